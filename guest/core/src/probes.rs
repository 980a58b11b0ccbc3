//! The tickets of the probes that are out, in the body of a half-open slot. A ticket's number is never used
//! again within its generation, so a probe that is recorded twice finds nothing the second time.

use zerocopy::FromBytes;
use zerocopy::little_endian::U32;

use crate::header::Header;

/// Lets one more probe out and returns its ticket, or `None` if all are out or have ended.
pub(crate) fn issue(header: &mut Header, body: &mut [u8]) -> Option<u32> {
    let out = header.probes_out.get();
    if header.calls.get().saturating_add(out) >= header.half_open_calls.get() {
        return None;
    }
    let ticket = header.tickets_issued.get().checked_add(1)?;
    *tickets(header, body)?.get_mut(usize::try_from(out).ok()?)? = ticket.into();
    header.probes_out = out.saturating_add(1).into();
    header.tickets_issued = ticket.into();
    Some(ticket)
}

/// Takes a ticket back; false if it is not out.
pub(crate) fn take_back(header: &mut Header, body: &mut [u8], ticket: u32) -> bool {
    let taken = (|| {
        let last = usize::try_from(header.probes_out.get()).ok()?.checked_sub(1)?;
        let out = tickets(header, body)?.get_mut(..=last)?;
        let at = out.iter().position(|it| it.get() == ticket)?;
        out.swap(at, last);
        Some(())
    })();
    if taken.is_some() {
        header.probes_out = header.probes_out.get().saturating_sub(1).into();
    }
    taken.is_some()
}

fn tickets<'a>(header: &Header, body: &'a mut [u8]) -> Option<&'a mut [U32]> {
    let count = usize::try_from(header.half_open_calls.get()).ok()?;
    let (tickets, _) = <[U32]>::mut_from_prefix_with_elems(body, count).ok()?;
    Some(tickets)
}
