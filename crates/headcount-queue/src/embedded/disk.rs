//! Where the files of a store are: a folder, or whatever a test puts in its place.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use redb::StorageBackend;
use redb::backends::FileBackend;

use super::error::OpenError;

/// The files of a store: one database, and the segments of its journal by number.
///
/// [`Folder`] is the real one; tests put others in its place, that fail or forget at will. What
/// was written may be lost until it is synced, in any order; what was synced must be there. A
/// segment that was created or removed must stay so.
///
/// ```
/// use headcount_queue::embedded::{Disk, Folder};
///
/// let dir = std::env::temp_dir().join(format!("headcount-disk-{}", std::process::id()));
/// let folder = Folder::claim(&dir)?;
/// folder.create_segment(1)?.write_at(0, b"hello")?;
/// assert_eq!(folder.segments()?, [1]);
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Disk: fmt::Debug + Send + Sync {
    /// The database, for messages.
    fn name(&self) -> String;

    /// Opens the database. Where there is none a fresh one appears, whole or not at all: a process
    /// that is killed meanwhile must not leave half of one.
    ///
    /// # Errors
    ///
    /// Whatever the disk says.
    fn database(&self) -> io::Result<Box<dyn StorageBackend>>;

    /// Puts the database on fresh blocks, after a sync of it has failed: what the machine still
    /// shows of it need not be what is on the disk, and another sync would not say so.
    ///
    /// # Errors
    ///
    /// Whatever the disk says.
    fn renew_database(&self) -> io::Result<()>;

    /// The segments that there are, in order.
    ///
    /// # Errors
    ///
    /// Whatever the disk says.
    fn segments(&self) -> io::Result<Vec<u64>>;

    /// All bytes of a segment.
    ///
    /// # Errors
    ///
    /// Whatever the disk says.
    fn read_segment(&self, number: u64) -> io::Result<Vec<u8>>;

    /// A segment with room set aside, which may hold what was written to another one before.
    ///
    /// # Errors
    ///
    /// Whatever the disk says.
    fn create_segment(&self, number: u64) -> io::Result<Box<dyn JournalFile>>;

    /// Removes a segment. One that is not there is no error.
    ///
    /// # Errors
    ///
    /// Whatever the disk says.
    fn remove_segment(&self, number: u64) -> io::Result<()>;
}

/// A segment that is written to.
///
/// ```
/// use headcount_queue::embedded::JournalFile;
/// use std::sync::Mutex;
///
/// #[derive(Debug, Default)]
/// struct Page(Mutex<Vec<u8>>);
///
/// impl JournalFile for Page {
///     fn write_at(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
///         let mut page = self.0.lock().expect("nobody panics");
///         let offset = usize::try_from(offset).expect("it is small");
///         let len = page.len().max(offset + data.len());
///         page.resize(len, 0);
///         page[offset..offset + data.len()].copy_from_slice(data);
///         Ok(())
///     }
///     fn sync(&self) -> std::io::Result<()> {
///         Ok(())
///     }
/// }
/// ```
pub trait JournalFile: fmt::Debug + Send {
    /// Writes at a place. It survives the process from now on.
    ///
    /// # Errors
    ///
    /// Whatever the disk says; the place may hold anything then.
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()>;

    /// Everything that was written survives the machine from now on.
    ///
    /// # Errors
    ///
    /// Whatever the disk says; nothing since the last sync can be relied on then.
    fn sync(&self) -> io::Result<()>;
}

/// A folder of this machine that one process at a time has.
///
/// ```
/// use headcount_queue::embedded::Folder;
///
/// let dir = std::env::temp_dir().join(format!("headcount-folder-{}", std::process::id()));
/// let folder = Folder::claim(&dir)?;
/// assert!(Folder::claim(&dir).is_err(), "somebody has it");
/// drop(folder);
/// assert!(Folder::claim(&dir).is_ok());
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Folder {
    dir: PathBuf,
    _lock: File,
}

/// How much room is set aside for a segment; one that is full is followed by another.
pub(crate) const SEGMENT_LEN: u64 = 16 << 20;

impl Folder {
    /// Makes the folder if there is none, readable for its owner only, and takes it for this
    /// process.
    ///
    /// # Errors
    ///
    /// [`OpenError::InUse`] when another process has it, [`OpenError::Disk`] when it cannot be
    /// made or written.
    pub fn claim(dir: &Path) -> Result<Self, OpenError> {
        let failed = |error| OpenError::disk(dir.display(), error);
        make_folder(dir).map_err(failed)?;
        let path = dir.join("lock");
        let failed = |error| OpenError::disk(path.display(), error);
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut lock = options.open(&path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let read = lock.read_to_string(&mut text);
                let pid = read.ok().and_then(|_| text.trim().parse().ok());
                return Err(OpenError::InUse { path, pid });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        lock.set_len(0).map_err(failed)?;
        // Only for the message of whoever comes too late.
        lock.write_all(format!("{}\n", std::process::id()).as_bytes()).map_err(failed)?;
        Ok(Self { dir: dir.to_owned(), _lock: lock })
    }

    fn segment(&self, number: u64) -> PathBuf {
        self.dir.join(format!("{SEGMENT_NAME}{number:016x}"))
    }

    fn spare(&self) -> PathBuf {
        self.dir.join("spare")
    }

    fn jobs(&self) -> PathBuf {
        self.dir.join("jobs.redb")
    }

    /// Whether there is a journal, or the empty one that a store leaves behind when it is closed.
    fn has_journal(&self) -> io::Result<bool> {
        Ok(fs::exists(self.spare())? || !self.segments()?.is_empty())
    }

    /// Names are on the disk only when their folder is.
    fn sync_names(&self) -> io::Result<()> {
        match cfg!(unix) {
            true => File::open(&self.dir)?.sync_all(),
            false => Ok(()),
        }
    }

    fn make_database(&self) -> io::Result<()> {
        let fresh = self.dir.join("jobs.redb.new");
        // What a process that was killed here has left.
        let _ = fs::remove_file(&fresh);
        drop(redb::Database::create(&fresh).map_err(io::Error::other)?);
        File::open(&fresh)?.sync_all()?;
        fs::rename(&fresh, self.jobs())?;
        self.sync_names()
    }

    fn blank_segment(path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        let mut file = options.read(true).write(true).create(true).truncate(true).open(path)?;
        let filled = (|| {
            let zeros = vec![0; 1 << 20];
            let mut left = SEGMENT_LEN;
            while 0 < left {
                file.write_all(&zeros)?;
                left -= zeros.len() as u64;
            }
            file.sync_all()
        })();
        match filled {
            Ok(()) => Ok(file),
            // A full disk is not to be filled by what was not finished.
            Err(error) => {
                let _ = fs::remove_file(path);
                Err(error)
            }
        }
    }
}

const SEGMENT_NAME: &str = "journal-";

/// Jobs that were acknowledged must not be forgotten without a word.
fn lost(how: &str) -> io::Error {
    let why = format!("{how}; bring back what was there, or begin in another folder");
    io::Error::new(io::ErrorKind::InvalidData, why)
}

impl Disk for Folder {
    fn name(&self) -> String {
        self.jobs().display().to_string()
    }

    fn database(&self) -> io::Result<Box<dyn StorageBackend>> {
        match fs::metadata(self.jobs()) {
            // It gets its name when it is complete, so it was never empty by itself.
            Ok(found) if found.len() == 0 => return Err(lost("it is empty")),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => match self.has_journal()? {
                true => return Err(lost("it is gone, although its journal is there")),
                false => self.make_database()?,
            },
            Err(error) => return Err(error),
        }
        let file = OpenOptions::new().read(true).write(true).open(self.jobs())?;
        Ok(Box::new(FileBackend::new(file).map_err(io::Error::other)?))
    }

    fn renew_database(&self) -> io::Result<()> {
        let fresh = self.dir.join("jobs.redb.new");
        fs::copy(self.jobs(), &fresh)?;
        File::open(&fresh)?.sync_all()?;
        fs::rename(&fresh, self.jobs())?;
        self.sync_names()
    }

    fn segments(&self) -> io::Result<Vec<u64>> {
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let name = entry?.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix(SEGMENT_NAME));
            numbers.extend(number.and_then(|number| u64::from_str_radix(number, 16).ok()));
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    fn read_segment(&self, number: u64) -> io::Result<Vec<u8>> {
        fs::read(self.segment(number))
    }

    fn create_segment(&self, number: u64) -> io::Result<Box<dyn JournalFile>> {
        let path = self.segment(number);
        let file = match fs::rename(self.spare(), &path) {
            Ok(()) => OpenOptions::new().read(true).write(true).open(&path)?,
            Err(_) => Self::blank_segment(&path)?,
        };
        self.sync_names()?;
        Ok(Box::new(Segment { file }))
    }

    fn remove_segment(&self, number: u64) -> io::Result<()> {
        let path = self.segment(number);
        let gone = match fs::exists(self.spare())? {
            true => fs::remove_file(&path),
            false => fs::rename(&path, self.spare()),
        };
        match gone {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

#[derive(Debug)]
struct Segment {
    file: File,
}

impl JournalFile for Segment {
    #[cfg(unix)]
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.file, data, offset)
    }

    #[cfg(not(unix))]
    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        use std::io::{Seek, SeekFrom};
        let mut file = &self.file;
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(data)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

fn make_folder(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}
