/** The WebAuthn relying party. Passkeys are valid for its id and its origin only. */
export interface RelyingParty {
  /** The host name without the port. */
  readonly id: string;
  readonly name: string;
  readonly origin: string;
}

export function toRelyingParty(publicUrl: string): RelyingParty {
  const { origin, hostname } = new URL(publicUrl);
  return { id: hostname, name: 'Trellis', origin };
}
