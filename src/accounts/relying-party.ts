/** What passkeys are bound to: they hold for this name, and answer this origin alone. */
export interface RelyingParty {
  /** The host's name, without port. */
  readonly id: string;
  readonly name: string;
  readonly origin: string;
}

export function relyingPartyOf(publicUrl: string): RelyingParty {
  const { origin, hostname } = new URL(publicUrl);
  return { id: hostname, name: 'Trellis', origin };
}
