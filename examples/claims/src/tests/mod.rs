//! The skills as their hosts run them.

mod classification;
mod helpdesk;
mod helpdesk_down;
mod package;
