//! Where the cgroups of this process are.
//!
//! There are two designs. In version 1 each controller may have a tree of its own; in version 2
//! there is one tree for all. A machine may have both at once, with some controllers here and the
//! others there. `proc/self/cgroup` says where in each tree we are, `proc/self/mountinfo` where the
//! trees are to be seen.
//!
//! In a container either path can be misleading: the tree may begin at the container's own group,
//! or the process may be told a path that is not visible from where it is. What the paths of
//! membership and mount have in common is therefore taken off, and if nothing is found that way,
//! the top of what is mounted is taken, which in containers is the container.

use std::path::{Path, PathBuf};

use super::files::Files;

/// Groups further up than that are not looked at.
const LEVELS_MAX: usize = 32;

/// The two designs of cgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    One,
    Two,
}

/// The groups of this process in one tree, its own first, then those around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Branch {
    pub(super) version: Version,
    pub(super) levels: Vec<PathBuf>,
}

/// The groups of this process, for each controller that matters to us. `None`: there is no such.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Groups {
    pub(super) cpu: Option<Branch>,
    /// The account of processor time, which has a tree of its own in version 1.
    pub(super) cpuacct: Option<Branch>,
    pub(super) memory: Option<Branch>,
    pub(super) pids: Option<Branch>,
    /// The tree of version 2, whether or not controllers are in it: pressure always is.
    pub(super) unified: Option<Branch>,
    /// The memberships that this was found from.
    memberships: String,
}

impl Groups {
    /// Looks again if this process was moved since, which the manager of a container may do after
    /// it has started it. Returns whether it was.
    pub(super) fn refresh(&mut self, files: &mut Files) -> bool {
        let place = files.place("proc/self/cgroup");
        let memberships = files.tolerant_text(&place).unwrap_or_default();
        if memberships == self.memberships {
            return false;
        }
        let memberships = memberships.into_owned();
        let place = files.place("proc/self/mountinfo");
        let mounts = files.tolerant_text(&place).unwrap_or_default();
        let mounts: Vec<Mount> = mounts.lines().filter_map(Mount::read).collect();
        *self = Self::find(files, &mounts, memberships);
        true
    }

    fn find(files: &Files, mounts: &[Mount], memberships: String) -> Self {
        let unified = membership(&memberships, "")
            .and_then(|path| Branch::find(files, Version::Two, path, mounts.iter()));
        let branch = |controller: &str| {
            let path = membership(&memberships, controller)?;
            let mounts = mounts.iter().filter(|mount| mount.has(controller));
            Branch::find(files, Version::One, path, mounts)
        };
        let either = |controller| branch(controller).or_else(|| unified.clone());
        Self {
            cpu: either("cpu"),
            cpuacct: either("cpuacct"),
            memory: either("memory"),
            pids: either("pids"),
            unified: unified.clone(),
            memberships,
        }
    }
}

/// Our path in the tree of a version 1 controller, or in that of version 2, which has no name.
fn membership<'a>(memberships: &'a str, controller: &str) -> Option<&'a str> {
    memberships.lines().find_map(|line| {
        let (number, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let is_it = match controller {
            "" => number == "0" && controllers.is_empty(),
            _ => controllers.split(',').any(|name| name == controller),
        };
        is_it.then_some(path)
    })
}

/// A tree of cgroups as it is mounted.
#[derive(Debug)]
struct Mount {
    version: Version,
    /// The part of the tree that is mounted.
    root: String,
    point: PathBuf,
    options: String,
}

impl Mount {
    /// Reads a line such as
    /// `31 23 0:28 /docker/b7 /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory`.
    fn read(line: &str) -> Option<Self> {
        let (mount, system) = line.split_once(" - ")?;
        let mut system = system.split(' ');
        let version = match system.next()? {
            "cgroup" => Version::One,
            "cgroup2" => Version::Two,
            _ => return None,
        };
        let mut mount = mount.split(' ').skip(3);
        let (root, point) = (unescaped(mount.next()?), unescaped(mount.next()?));
        let options = system.nth(1).unwrap_or_default().to_owned();
        Some(Self { version, root, point: point.into(), options })
    }

    fn has(&self, controller: &str) -> bool {
        self.options.split(',').any(|option| option == controller)
    }
}

/// In the table of mounts, blanks and the like are written as `\040`.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..3).and_then(|code| u8::from_str_radix(code, 8).ok());
        match code.filter(u8::is_ascii) {
            Some(code) => {
                whole.push(char::from(code));
                whole.push_str(&part[3..]);
            }
            None => {
                whole.push('\\');
                whole.push_str(part);
            }
        }
    }
    whole
}

impl Branch {
    fn find<'a>(
        files: &Files,
        version: Version,
        path: &str,
        mounts: impl Iterator<Item = &'a Mount>,
    ) -> Option<Self> {
        let mounts: Vec<&Mount> = mounts.filter(|mount| mount.version == version).collect();
        let visible = mounts.iter().find_map(|mount| {
            let (top, own) = (files.place(&mount.point), below(path, &mount.root)?);
            let own = top.join(own);
            own.is_dir().then_some((own, top))
        });
        let (own, top) = visible.or_else(|| {
            let top = files.place(&mounts.first()?.point);
            top.is_dir().then(|| (top.clone(), top))
        })?;
        let levels = own.ancestors().take_while(|level| level.starts_with(&top));
        Some(Self { version, levels: levels.take(LEVELS_MAX).map(Path::to_owned).collect() })
    }
}

/// The path from `root` on, or `None` where it does not lead below it.
fn below<'a>(path: &'a str, root: &str) -> Option<&'a Path> {
    let below = Path::new(path).strip_prefix(root).ok()?;
    // A path out of the tree begins with `..`: that group cannot be seen from here.
    let is_inside = below.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    is_inside.then_some(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memberships_are_found_by_controller() {
        let lines = "5:cpu,cpuacct:/a\n4:memory:/b:c\n1:name=systemd:/s\n0::/u\nrubbish\n";
        let found = ["cpu", "cpuacct", "memory", "pids", ""].map(|name| membership(lines, name));
        assert_eq!(found, [Some("/a"), Some("/a"), Some("/b:c"), None, Some("/u")]);
    }

    #[test]
    fn mounts_of_other_kinds_are_passed_over() {
        assert!(Mount::read("22 27 0:21 / /proc rw - proc proc rw").is_none());
        assert!(Mount::read("22 27 0:21 /").is_none());
        assert!(Mount::read(" - cgroup2").is_none());
        assert!(Mount::read("").is_none());
        let mount = Mount::read("1 2 0:3 /a /b\\040c rw shared:4 master:1 - cgroup2 none rw");
        let mount = mount.expect("a line with everything");
        assert_eq!((mount.root.as_str(), mount.point.to_str()), ("/a", Some("/b c")));
    }

    #[test]
    fn an_escape_that_is_none_stays() {
        let whole = ["a\\040b\\011", "a\\", "a\\9xx", "a\\é0b", "\\377"].map(unescaped);
        assert_eq!(whole, ["a b\t", "a\\", "a\\9xx", "a\\é0b", "\\377"]);
    }

    #[test]
    fn a_path_is_followed_only_within_its_tree() {
        let check = |path, root, found: Option<&str>| {
            assert_eq!(below(path, root), found.map(Path::new), "{path} in {root}");
        };
        check("/a/b", "/", Some("a/b"));
        check("/", "/", Some(""));
        check("/docker/b7", "/docker/b7", Some(""));
        check("/docker/b7/x", "/docker/b7", Some("x"));
        check("/docker/b77", "/docker/b7", None);
        check("/", "/docker/b7", None);
        check("/../other", "/", None);
        check("", "/", None);
    }
}
