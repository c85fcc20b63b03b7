//! A mechanism with its values, ready to be built.

use super::{Info, Mechanism, Values, find};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// How a mechanism is built, called like the function that it is: a constant of the program, or something that a caller
/// made at run time and shares.
pub enum Built<B: ?Sized + 'static> {
    /// Lives as long as the program.
    Constant(&'static B),
    /// Lives as long as somebody has it.
    Shared(Arc<B>),
}

impl<B: ?Sized> Deref for Built<B> {
    type Target = B;

    fn deref(&self) -> &B {
        match self {
            Built::Constant(build) => build,
            Built::Shared(build) => build,
        }
    }
}

impl<B: ?Sized> Clone for Built<B> {
    fn clone(&self) -> Self {
        match self {
            Built::Constant(build) => Built::Constant(build),
            Built::Shared(build) => Built::Shared(Arc::clone(build)),
        }
    }
}

/// A mechanism and the values of its parameters, as a configuration holds it. It is built by `(choice.build)(&choice.values)`,
/// whoever made it.
pub struct Choice<B: ?Sized + 'static> {
    /// Which one.
    pub info: &'static Info,
    /// Its parameters, all of them.
    pub values: Values,
    /// How it is built.
    pub build: Built<B>,
}

impl<B: ?Sized> Choice<B> {
    /// A mechanism with its defaults. A parameter that has none must be set before it is built.
    pub fn of(mechanism: &'static Mechanism<B>) -> Choice<B> {
        Choice {
            info: &mechanism.info,
            values: mechanism.info.defaults(),
            build: Built::Constant(mechanism.build),
        }
    }

    /// A mechanism with its defaults that is built by something made at run time. Who makes its description at run time
    /// too gives it for the length of the program (`Box::leak`).
    ///
    /// ```
    /// use lasthop_base::{Choice, Info, Values};
    /// use std::sync::Arc;
    ///
    /// type Build = dyn Fn(&Values) -> String + Send + Sync;
    /// const INFO: Info = Info { name: "greeting", ..Info::PLAIN };
    ///
    /// let whom = String::from("world");
    /// let choice = Choice::<Build>::own(&INFO, Arc::new(move |_| format!("hello {whom}")));
    /// assert_eq!((choice.build)(&choice.values), "hello world");
    /// ```
    pub fn own(info: &'static Info, build: Arc<B>) -> Choice<B> {
        Choice { info, values: info.defaults(), build: Built::Shared(build) }
    }

    /// One of a list, by a name that the program's text has, with its defaults. For names that somebody else wrote there
    /// is [`find`].
    ///
    /// # Panics
    /// If the list has no such mechanism.
    pub fn named(list: &'static [Mechanism<B>], name: &str) -> Choice<B> {
        match find(list, name) {
            Some(mechanism) => Choice::of(mechanism),
            None => panic!("no mechanism is called `{name}`"),
        }
    }
}

impl<B: ?Sized> Clone for Choice<B> {
    fn clone(&self) -> Self {
        Choice { info: self.info, values: self.values.clone(), build: self.build.clone() }
    }
}

impl<B: ?Sized> Hash for Choice<B> {
    /// By its name and its values.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.info.name, &self.values).hash(state);
    }
}

impl<B: ?Sized> fmt::Debug for Choice<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Choice").field("name", &self.info.name).field("values", &self.values).finish()
    }
}
