//! The commands. Each is a folder with its arguments and a function `run`, or one file.

pub mod algorithms;
pub mod compare;
pub mod demo;
pub mod explore;
pub mod kernel;
pub mod man;
pub mod new;
pub mod paths;
pub mod plot;
pub mod reproduce;
pub mod run;
pub mod serve;
pub mod show;
pub mod sweep;
pub mod theory;
