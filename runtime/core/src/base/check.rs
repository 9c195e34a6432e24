//! Checks whose subject or error type is defined in a higher crate.

/// A check of a subject. A type of this crate has a method `check`, and the higher crate implements this trait once
/// for it, so that the compiler infers the types of the subject and the error.
pub trait Check<Subject, Error> {
    /// Checks the subject.
    ///
    /// # Errors
    ///
    /// Returns the subject's problem.
    fn checked(&self, subject: &Subject) -> Result<(), Error>;
}
