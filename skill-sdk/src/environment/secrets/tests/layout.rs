//! A directory of its own for one test.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A new directory that every user may search; removed with all that is in it when dropped.
pub(super) struct Layout {
    root: PathBuf,
}

impl Layout {
    pub(super) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "skill-sdk-secrets-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        // The real path, for links are compared with it.
        let root = std::env::temp_dir().canonicalize().unwrap().join(name);
        fs::create_dir(&root).unwrap();
        let layout = Self { root };
        layout.mode("", 0o755);
        layout
    }

    /// With the secrets directory `run` in it.
    pub(super) fn with_run() -> Self {
        let layout = Self::new();
        layout.dir("run");
        layout
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(super) fn root(&self) -> &str {
        self.root.to_str().unwrap()
    }

    pub(super) fn run(&self) -> PathBuf {
        self.path("run")
    }

    pub(super) fn dir(&self, path: &str) {
        fs::create_dir_all(self.path(path)).unwrap();
    }

    pub(super) fn file(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// `<root>` in the target stands for the root.
    pub(super) fn link(&self, path: &str, target: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target.replace("<root>", self.root()), path).unwrap();
    }

    #[cfg(target_os = "linux")]
    pub(super) fn fifo(&self, path: &str) {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, self.path(path), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }

    /// Atomically replaces `path` with a link.
    pub(super) fn relink(&self, path: &str, target: &str) {
        let new = format!("{path}.new");
        self.link(&new, target);
        fs::rename(self.path(&new), self.path(path)).unwrap();
    }

    pub(super) fn mode(&self, path: &str, mode: u32) {
        set_mode(&self.path(path), mode);
    }
}

impl Drop for Layout {
    fn drop(&mut self) {
        // A directory that may not be searched cannot be emptied.
        if self.run().is_dir() {
            self.mode("run", 0o755);
        }
        // Files that remain in the temporary directory do not matter.
        drop(fs::remove_dir_all(&self.root));
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
