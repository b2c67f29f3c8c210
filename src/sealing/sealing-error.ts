/** What went wrong, for programs. */
export type SealingCode =
  /** What should be a recipient or an identity is none, or there is none at all. */
  | 'invalid_key'
  /** A consumer, or the owner, has no public key yet. */
  | 'no_key'
  /** The sealed value would be larger than the service takes. */
  | 'too_large'
  /** What should be sealed is no age file, or is damaged. */
  | 'not_sealed'
  /** It is sealed to others. */
  | 'no_match'
  /** The service reports another public key than the one used before. */
  | 'key_changed';

/**
 * Why a value could not be sealed or opened. The message is safe to show:
 * neither it nor a `cause` ever holds a value or an identity, which the
 * messages of a library may.
 */
export class SealingError extends Error {
  override readonly name = 'SealingError';
  readonly code: SealingCode;

  constructor(code: SealingCode, message: string) {
    super(message);
    this.code = code;
  }
}
