/** The machine-readable reason of a {@link SealingError}. */
export type SealingCode =
  /** A recipient or an identity is invalid or missing. */
  | 'invalid_key'
  /** A consumer, or the owner, has no public key yet. */
  | 'no_key'
  /** The sealed value would exceed the limit of the service. */
  | 'too_large'
  /** The data is not an age file, or the file is damaged. */
  | 'not_sealed'
  /** The value is not sealed to the identity. */
  | 'no_match'
  /** The service reports a different public key than the one used before. */
  | 'key_changed'
  /** The value has no signature, although a writer is trusted for its name, or signatures are required. */
  | 'not_signed'
  /** The signature is not one of this value: of its name, number, bytes and recipients. */
  | 'wrong_signature'
  /** The key that signed the value is not trusted for its name. */
  | 'unknown_signer'
  /** A later value of the secret was used before. */
  | 'older_value';

/**
 * An error of sealing or opening a value. The message is safe to show: neither it nor a `cause` contains a value or an
 * identity, which the messages of libraries may quote.
 */
export class SealingError extends Error {
  override readonly name = 'SealingError';
  readonly code: SealingCode;

  constructor(code: SealingCode, message: string) {
    super(message);
    this.code = code;
  }
}
