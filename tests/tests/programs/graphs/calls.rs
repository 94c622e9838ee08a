//! Prints the calls of a node's phase as code.

use super::code::{Node, port_name};
use super::plan::{Action, Call, DownloadUse, Memory, On, Operand, Port, Receiving};

/// What the code printed so far for a phase has declared and received.
#[derive(Default)]
pub(super) struct Arm {
    pub(super) handled: Vec<Port>,
    /// Whether a message was received on the internal stream.
    internal: bool,
    sent: [bool; 2],
    /// The streams that already have a variable in the printed code. `before` is the declaration that the next call
    /// needs.
    named: Vec<&'static str>,
    pub(super) before: String,
    /// The ports that the code has received, each with the variable of its stream.
    streams: Vec<(Port, &'static str)>,
}

impl Arm {
    fn stream(&mut self, node: &Node, on: On) -> Option<&'static str> {
        let (name, how) = match (on, self.internal) {
            (On::Internal, true) => return Some("s"),
            (On::Default, _) => ("default", "cx.default_stream()?"),
            _ if node.adopts => return self.internal.then_some("s"),
            (On::Second, _) => ("second", "cx.allocate_cuda_stream(io.second)?"),
            _ => ("first", "cx.allocate_cuda_stream(io.first)?"),
        };
        // The printed code allocates a stream at its first use, as the failing run does.
        if !self.named.contains(&name) {
            self.named.push(name);
            self.before = format!("let {name} = {how}; ");
        }
        Some(name)
    }

    fn from(&self, from: Operand) -> String {
        let item = match from.of {
            Memory::Register(register) => format!("core.r[{register}].as_ref().map(Cell::item)"),
            Memory::Read if self.has(Port::Read) => "read".to_owned(),
            Memory::Also if self.has(Port::Also) => "also".to_owned(),
            Memory::All(index) if self.has(Port::All) => {
                format!("all.get({index} % all.len().max(1)).copied()")
            }
            _ => "None".to_owned(),
        };
        format!("part({item}, {})?", from.skip)
    }

    fn has(&self, port: Port) -> bool {
        self.streams.iter().any(|(it, _)| *it == port)
    }

    pub(super) fn print(&mut self, node: &Node, call: &Call) -> Option<String> {
        let text = match call.act {
            Action::Receive(port, way, register) => {
                return self.receive(node, port, way, register, call.on);
            }
            Action::Discard(port) => {
                if !node.ports.contains(&port) || self.handled.contains(&port) {
                    return None;
                }
                self.handled.push(port);
                return Some(format!("io.{}.discard();", port_name(port)));
            }
            Action::Drop(register) => return Some(format!("core.r[{register}] = None;")),
            Action::Look => "core.pending.iter().try_for_each(Pending::look)?;".to_owned(),
            Action::Await => {
                "core.pending.pop_front().map_or(Ok(()), |oldest| oldest.wait())?;".to_owned()
            }
            Action::Forget => "drop(core.pending.pop_front());".to_owned(),
            _ => {
                let s = self.stream(node, call.on)?;
                return self.queue(node, call, s);
            }
        };
        Some(text)
    }

    fn queue(&mut self, node: &Node, call: &Call, s: &str) -> Option<String> {
        let (tag, slow) = (format!("tag({})", call.tag), call.slow);
        let keep = |register: usize, made: String| {
            format!("core.r[{register}] = Some(Cell::Own({made}));")
        };
        let text = match call.act {
            Action::New(register, len) => keep(
                register,
                format!("made(platform, &{s}, [None, None], {len}, ({tag}, {slow}))?"),
            ),
            Action::Upload(register, len) => format!(
                "{{ let s = {s}; let mut item = Item::new(platform, &s, {len})?; \
                 upload(platform, &s, &mut item, {tag})?; core.r[{register}] = Some(Cell::Own(item)); }}"
            ),
            Action::Map(register, from, len) => {
                let from = self.from(from);
                let of = format!("[{from}.as_ref(), None]");
                keep(register, format!("made(platform, &{s}, {of}, {len}, ({tag}, {slow}))?"))
            }
            Action::Join(register, a, b, len) => {
                let of = format!("[{}.as_ref(), {}.as_ref()]", self.from(a), self.from(b));
                keep(register, format!("made(platform, &{s}, {of}, {len}, ({tag}, {slow}))?"))
            }
            Action::Calculate(register, from) => {
                let on = if call.on == On::First { On::Second } else { On::First };
                // The declaration of `other` must come after that of `s`.
                let before = std::mem::take(&mut self.before);
                let other = self.stream(node, on)?;
                self.before = before + &self.before;
                let from = self.from(from);
                format!(
                    "if let Some(from) = {from} && let Some(item) = \
                     calculated(cx, (&{s}, &{other}), &mut core.plans, &from, ({tag}, {slow}))? \
                     {{ core.r[{register}] = Some(Cell::Own(item)); }}"
                )
            }
            Action::Change(register, from) | Action::Copy(register, from) => {
                let from = self.from(from);
                let change = match call.act {
                    Action::Copy(..) => format!("copy(&{s}, &mut item, &from)?;"),
                    _ => format!("change(&{s}, &mut item, &from, {tag}, {slow})?;"),
                };
                format!(
                    "if let Some(mut item) = take_own(&mut core.r[{register}]) {{ \
                     if let Some(from) = {from} {{ {change} }} core.r[{register}] = Some(Cell::Own(item)); }}"
                )
            }
            Action::Download(from, fate) => {
                let then = match fate {
                    DownloadUse::Awaited => "pending.wait()?;",
                    DownloadUse::Kept => "core.pending.push_back(pending);",
                    DownloadUse::Dropped => "drop(pending);",
                };
                let from = self.from(from);
                format!(
                    "if let Some(from) = {from} {{ let pending = download(platform, &{s}, &from)?; {then} }}"
                )
            }
            Action::Emit(register) => {
                let take = format!("take_own(&mut core.r[{register}])");
                if !node.sends[0] || std::mem::replace(&mut self.sent[0], true) {
                    return Some(format!("drop({take});"));
                }
                format!(
                    "if let Some(item) = {take} {{ io.out.set_cuda_stream(&{s}).emit(item)?; }}"
                )
            }
            Action::Pass(register) => {
                let share = format!("share(&mut core.r[{register}])");
                if !node.sends[1] || std::mem::replace(&mut self.sent[1], true) {
                    return Some(format!("drop({share});"));
                }
                format!(
                    "if let Some(item) = {share} {{ io.passed.set_cuda_stream(&{s}).emit(item)?; }}"
                )
            }
            Action::Record => format!("core.points.push({s}.record()?);"),
            Action::Wait(ago) => format!(
                "if let Some(point) = core.points.iter().rev().nth({ago}) {{ {s}.wait(*point)?; }}"
            ),
            Action::IsComplete => format!("{s}.is_complete()?;"),
            Action::Synchronize => format!("{s}.synchronize_blocking()?;"),
            Action::Timing => format!("{s}.record_timing()?;"),
            Action::Raw => format!("{s}.raw();"),
            Action::CopyBypassing(register, from) => {
                let port = match from.of {
                    Memory::Read => Port::Read,
                    Memory::Also => Port::Also,
                    Memory::All(_) => Port::All,
                    Memory::Register(_) => return None,
                };
                let (_, on) = *self.streams.iter().find(|(it, _)| *it == port)?;
                let item = match from.of {
                    Memory::All(index) => format!("all.get({index} % all.len().max(1)).copied()"),
                    _ => port_name(port).to_owned(),
                };
                let target = if call.on == On::Internal { on } else { s };
                format!(
                    "if let Some(item) = {item} && let Some(copy) = copy_bypassing(platform, item, &{on}, &{target})? \
                     {{ core.r[{register}] = Some(Cell::Own(copy)); }}"
                )
            }
            Action::CopyRaw(register, from) => {
                let from = self.from(from);
                format!(
                    "if let Some(copy) = {from}.map(|from| copied(platform, &{s}, &from)).transpose()? \
                     {{ core.r[{register}] = Some(Cell::Own(copy)); }}"
                )
            }
            Action::OnStream(register, from) => {
                let from = self.from(from);
                format!(
                    "{{ let s = {s}; let mut handle = cx.on_stream(&s, |_| Ok(()))?; \
                     if let Some(copy) = {from}.map(|from| handle.with(&s, |()| copied(platform, &s, &from))).transpose()? \
                     {{ core.r[{register}] = Some(Cell::Own(copy?)); }} }}"
                )
            }
            _ => return None,
        };
        Some(text)
    }

    fn receive(
        &mut self,
        node: &Node,
        port: Port,
        way: Receiving,
        register: usize,
        on: On,
    ) -> Option<String> {
        if !node.ports.contains(&port) || self.handled.contains(&port) {
            return None;
        }
        let target = if way == Receiving::Synchronized { self.stream(node, on) } else { None };
        self.handled.push(port);
        let name = port_name(port);
        let variable = match port {
            Port::Share | Port::Take => "item",
            _ => name,
        };
        let (text, s) = match (way, target) {
            (Receiving::Synchronized, Some(target)) => (
                format!(
                    "let {variable} = io.{name}.receive(); \
                     let after = cx.synchronize_streams({variable}.streams(), &{target})?; \
                     let {variable} = {variable}.into_synchronized_data(&after)?;"
                ),
                target,
            ),
            _ => {
                self.internal = true;
                let how = match way {
                    Receiving::OrAdopt => ".or_adopt()",
                    Receiving::ToDefault => ".sync_to_default()",
                    _ => "",
                };
                (
                    format!(
                        "let ({variable}, s) = io.{name}.receive(){how}.receive_cuda_stream(cx)?;"
                    ),
                    "s",
                )
            }
        };
        self.streams.push((port, s));
        let some = if node.work || port == Port::All { "" } else { " let item = Some(item);" };
        let kept = |cell: &str| {
            format!(
                "{some} if let Some(item) = item {{ core.r[{register}] = Some(Cell::{cell}(item)); }}"
            )
        };
        Some(match port {
            Port::Share => text + &kept("Shared"),
            Port::Take => text + &kept("Own"),
            Port::All => text + " let all: Vec<_> = all.collect();",
            _ if node.work => text,
            _ => text + &format!(" let {name} = Some({name});"),
        })
    }
}
