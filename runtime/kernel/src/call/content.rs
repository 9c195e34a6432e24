//! Content of results, parsed and rendered in MCP form.

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

use crate::base::data::Members;
use crate::call::result::{Content, ResourceData};

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "Content")?;
        match members.take::<String, _>("type")?.as_str() {
            "text" => members.take("text").map(Content::Text),
            "image" => {
                Ok(Content::Image { data: members.take("data")?, mime_type: members.take("mimeType")? })
            }
            "audio" => {
                Ok(Content::Audio { data: members.take("data")?, mime_type: members.take("mimeType")? })
            }
            "resource" => members.take("resource").map(|Resource(content)| content),
            "resource_link" => Ok(Content::Link {
                uri: members.take("uri")?,
                name: members.take("name")?,
                mime_type: members.or_default("mimeType")?,
                size: members.or_default("size")?,
            }),
            other => Err(members.unknown("type", other)),
        }
    }
}

/// The content of a resource.
struct Resource(Content);

impl<'de> Deserialize<'de> for Resource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "Content")?;
        let (uri, mime_type) = (members.take("uri")?, members.or_default("mimeType")?);
        let data = read_data(&mut members)?;
        Ok(Resource(Content::Resource { uri, mime_type, data }))
    }
}

fn read_data<E: serde_core::de::Error>(members: &mut Members) -> Result<ResourceData, E> {
    if members.has("blob") {
        members.take("blob").map(ResourceData::Base64)
    } else {
        members.take("text").map(ResourceData::Text)
    }
}

/// `{"text"}` or `{"blob"}`.
impl Serialize for ResourceData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (key, text) = match self {
            ResourceData::Text(text) => ("text", text),
            ResourceData::Base64(text) => ("blob", text),
        };
        serializer.collect_map([(key, text)])
    }
}

impl<'de> Deserialize<'de> for ResourceData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_data(&mut Members::read(deserializer, "ResourceData")?)
    }
}
