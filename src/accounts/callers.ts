/** Who sent a request, as far as its credential proves. */
export type Caller = ConsumerTokenCaller | SessionCaller | TokenCaller;

interface Person {
  readonly personId: string;
  readonly username: string;
  readonly isAdmin: boolean;
}

/** A person signed in with a passkey. */
export interface SessionCaller extends Person {
  readonly kind: 'session';
  readonly sessionId: string;
}

/** A person's script: a personal API token, or a write token of the secrets service. */
export interface TokenCaller extends Person {
  readonly kind: 'token';
  readonly tokenId: string;
  readonly scopes: readonly Scope[];
}

/** A consumer of secrets, which may only read the values that name it. */
export interface ConsumerTokenCaller {
  readonly kind: 'consumer_token';
  readonly tokenId: string;
  readonly consumer: string;
}

export type Scope = 'read' | 'write';
