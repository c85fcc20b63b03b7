//! Changes the options of existing sockets.

use super::{Handle, Host, SocketKind};
use crate::error::Error;
use crate::options::Options;
use lasthop_base::{Duration, Time};
use lasthop_tcp::Endpoint;
use lasthop_tcp::endpoint::KeepAlive;

impl Host {
    /// Changes the options of a listener. The new options apply to connections whose SYN arrives after this call.
    ///
    /// # Errors
    /// [`Error::BadHandle`] for an invalid handle. [`Error::Invalid`] if the socket is a connection or an option is out
    /// of range.
    pub fn set_options(&mut self, listener: Handle, options: &Options) -> Result<(), Error> {
        match self.sockets.get_mut(listener).map(|socket| &mut socket.kind) {
            None => Err(Error::BadHandle),
            Some(SocketKind::Listener(listener)) if options.are_valid() => {
                listener.options = options.clone();
                Ok(())
            }
            Some(_) => Err(Error::Invalid),
        }
    }

    /// `TCP_NODELAY`: if `nodelay` is true, sends short segments even while data is unacknowledged. If the socket is a
    /// listener, the option applies to connections whose SYN arrives after this call.
    pub fn set_nodelay(&mut self, handle: Handle, nodelay: bool) -> Result<(), Error> {
        self.set(handle, |options| options.tcp.nagle = !nodelay, |endpoint| endpoint.set_nagle(!nodelay))
    }

    /// `TCP_USER_TIMEOUT`: longest time for which data may stay unacknowledged; `None` means no limit. If the socket is
    /// a listener, the option applies to connections whose SYN arrives after this call.
    pub fn set_user_timeout(&mut self, handle: Handle, limit: Option<Duration>) -> Result<(), Error> {
        self.set(
            handle,
            |options| options.tcp.user_timeouts.data = limit,
            |endpoint| endpoint.set_user_timeout(limit),
        )
    }

    /// `SO_KEEPALIVE` with `TCP_KEEPIDLE`, `TCP_KEEPINTVL` and `TCP_KEEPCNT`; `None` disables keep-alive. If the socket
    /// is a listener, the option applies to connections whose SYN arrives after this call.
    pub fn set_keep_alive(
        &mut self,
        now: Time,
        handle: Handle,
        keep_alive: Option<KeepAlive>,
    ) -> Result<(), Error> {
        self.set(
            handle,
            |options| options.tcp.keep_alive = keep_alive,
            |endpoint| endpoint.set_keep_alive(now, keep_alive),
        )
    }

    /// Changes an option of a connection with `of_connection`. If the socket is a listener, changes the option for
    /// later connections with `of_listener`.
    fn set(
        &mut self,
        handle: Handle,
        of_listener: impl FnOnce(&mut Options),
        of_connection: impl FnOnce(&mut Endpoint),
    ) -> Result<(), Error> {
        match self.sockets.get_mut(handle).map(|socket| &mut socket.kind) {
            Some(SocketKind::Listener(listener)) => of_listener(&mut listener.options),
            _ => {
                of_connection(&mut self.connection(handle)?.endpoint);
                self.update(handle);
            }
        }
        Ok(())
    }
}
