//! The part of JSON Schema in the published schemas: references, objects, arrays, types, alternatives, constants. A key that is
//! not in a schema is an error, unless the schema has additional properties. A key without a description is an error.

use serde_json::Value;

/// Validates `value`; the error is the place that differs from the schema.
pub fn validate(value: &Value, schema: &Value) -> Result<(), String> {
    part(value, schema, schema, "it")
}

fn part(value: &Value, schema: &Value, whole: &Value, at: &str) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = whole
            .pointer(&reference[1..])
            .ok_or(format!("{at}: no {reference}"))?;
        return part(value, target, whole, at);
    }
    for many in ["oneOf", "anyOf"] {
        if let Some(one_of) = schema[many].as_array() {
            let fits = |schema: &Value| part(value, schema, whole, at).is_ok();
            return if one_of.iter().any(fits) {
                Ok(())
            } else {
                Err(format!("{at}: {value}"))
            };
        }
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let is = |kind: &&str| match *kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    if !types.iter().any(is) && schema.get("const") != Some(value) {
        return Err(format!("{at}: {value} is not {types:?}"));
    }
    if let Some(constant) = schema.get("const").filter(|constant| *constant != value) {
        return Err(format!("{at}: {value} is not {constant}"));
    }
    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
        part(item, &schema["items"], whole, &format!("{at}.{number}"))?;
    }
    let Some(object) = value.as_object() else {
        return Ok(());
    };
    for key in schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        object.get(key).ok_or(format!("{at}: no {key}"))?;
    }
    for (key, value) in object {
        let property = (schema["properties"].get(key))
            .or(schema
                .get("additionalProperties")
                .filter(|other| other.is_object()))
            .ok_or(format!("{at}: {key} is not in it"))?;
        let described = property["description"].is_string() || property.get("$ref").is_some();
        assert!(described, "{at}.{key} has no description");
        part(value, property, whole, &format!("{at}.{key}"))?;
    }
    Ok(())
}
