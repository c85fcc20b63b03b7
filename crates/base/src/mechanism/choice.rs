//! A selected mechanism, with its constructor and the values of its parameters.

use super::{Info, Mechanism, Values, find};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// Constructor of a mechanism: a function that is a constant, or a function that was created at run time. [`Deref`]
/// returns the function.
pub enum Constructor<B: ?Sized + 'static> {
    /// Function that is a constant in the source code.
    Constant(&'static B),
    /// Function created at run time, for example by a Python class.
    Shared(Arc<B>),
}

impl<B: ?Sized> Deref for Constructor<B> {
    type Target = B;

    fn deref(&self) -> &B {
        match self {
            Constructor::Constant(build) => build,
            Constructor::Shared(build) => build,
        }
    }
}

impl<B: ?Sized> Clone for Constructor<B> {
    fn clone(&self) -> Self {
        match self {
            Constructor::Constant(build) => Constructor::Constant(build),
            Constructor::Shared(build) => Constructor::Shared(Arc::clone(build)),
        }
    }
}

/// A mechanism and the values of its parameters. `(choice.build)(&choice.values)` calls the constructor of the
/// mechanism.
pub struct Choice<B: ?Sized + 'static> {
    /// Description of the mechanism.
    pub info: &'static Info,
    /// Values of all parameters of the mechanism.
    pub values: Values,
    /// Constructor of the mechanism.
    pub build: Constructor<B>,
}

impl<B: ?Sized> Choice<B> {
    /// Returns a mechanism with default values. Parameters without a default must be set before the constructor is
    /// called.
    pub fn of(mechanism: &'static Mechanism<B>) -> Choice<B> {
        Choice {
            info: &mechanism.info,
            values: mechanism.info.defaults(),
            build: Constructor::Constant(mechanism.build),
        }
    }

    /// Returns a mechanism with default values and a constructor created at run time. An `info` created at run time
    /// must be leaked (`Box::leak`) to become `'static`.
    ///
    /// ```
    /// use lasthop_base::{Choice, Info, Values};
    /// use std::sync::Arc;
    ///
    /// type Build = dyn Fn(&Values) -> String + Send + Sync;
    /// const INFO: Info = Info { name: "greeting", ..Info::PLAIN };
    ///
    /// let whom = String::from("world");
    /// let choice = Choice::<Build>::with_constructor(&INFO, Arc::new(move |_| format!("hello {whom}")));
    /// assert_eq!((choice.build)(&choice.values), "hello world");
    /// ```
    pub fn with_constructor(info: &'static Info, build: Arc<B>) -> Choice<B> {
        Choice { info, values: info.defaults(), build: Constructor::Shared(build) }
    }

    /// Returns the mechanism with the name `name`, with default values. Use this function only for names in the source
    /// code. For names that users type, use [`find`].
    ///
    /// # Panics
    /// If `list` has no mechanism of this name.
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
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.info.name, &self.values).hash(state);
    }
}

impl<B: ?Sized> fmt::Debug for Choice<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Choice").field("name", &self.info.name).field("values", &self.values).finish()
    }
}
