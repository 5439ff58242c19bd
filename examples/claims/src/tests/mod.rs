//! Tests of the skills, called as a server calls them.

mod classification;
mod helpdesk;
mod helpdesk_down;
mod package;
