//! Checks whose subject or error is a type of a crate above this one.

/// A check of a subject. A type of this crate has a method `check` for it, and the crate above implements it
/// once, so that the compiler finds the types of the subject and of the error.
pub trait Check<Subject, Error> {
    /// Checks the subject.
    ///
    /// # Errors
    ///
    /// What is wrong with the subject.
    fn checked(&self, subject: &Subject) -> Result<(), Error>;
}
