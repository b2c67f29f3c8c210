export interface DeliveryErrorOptions extends ErrorOptions {
  /** Whether a repetition would fail too. */
  readonly isPermanent?: boolean;
  /** Whether the channel no longer exists at its receiver. */
  readonly isGone?: boolean;
  /** How long the receiver asks to wait. */
  readonly retryAfterMs?: number;
}

/** The contract's limit, which leaves room for most responses of mail servers. */
const MAX_MESSAGE = 500;

/** A failed attempt to send a message. Its message is shown to the user. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  readonly isPermanent: boolean;
  readonly isGone: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    { isPermanent = false, isGone = false, retryAfterMs, ...options }: DeliveryErrorOptions = {},
  ) {
    super(message.slice(0, MAX_MESSAGE), options);
    this.isPermanent = isPermanent || isGone;
    this.isGone = isGone;
    this.retryAfterMs = retryAfterMs;
  }
}
