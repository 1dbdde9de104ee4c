"""Shared by the scripts that fill the tables of the documentation; CONTRIBUTING.md describes them."""
