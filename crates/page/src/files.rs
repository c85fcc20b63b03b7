//! Files that the page provides.

use lasthop_scenario::FileSource;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub(crate) struct PageFiles(BTreeMap<String, Arc<str>>);

impl PageFiles {
    /// Stores a file, which replaces any file of the same name. An empty text removes the file.
    pub(crate) fn put(&mut self, name: String, text: String) {
        if text.is_empty() {
            self.0.remove(&name)
        } else {
            self.0.insert(name, text.into())
        };
    }
}

impl FileSource for PageFiles {
    fn exists(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    fn read(&self, name: &str, largest: u64) -> Result<Vec<u8>, String> {
        match self.0.get(name) {
            Some(text) if text.len() as u64 > largest => {
                Err(format!("the file is larger than {largest} bytes"))
            }
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => Err("this page has no such file: drop it onto the page".to_owned()),
        }
    }
}
