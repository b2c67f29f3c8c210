/** The authenticated origin of a request. */
export type Caller = ConsumerTokenCaller | SessionCaller | TokenCaller;

interface CallingUser {
  readonly personId: string;
  readonly username: string;
  readonly isAdmin: boolean;
}

/** A user signed in with a passkey. */
export interface SessionCaller extends CallingUser {
  readonly kind: 'session';
  readonly sessionId: string;
}

/** A user's script with an API token, or with a write token of the secrets service. */
export interface TokenCaller extends CallingUser {
  readonly kind: 'token';
  readonly tokenId: string;
  readonly scopes: readonly Scope[];
}

/** A consumer with a consumer token, which can only read the values of secrets that name it. */
export interface ConsumerTokenCaller {
  readonly kind: 'consumer_token';
  readonly tokenId: string;
  readonly consumer: string;
}

export type Scope = 'read' | 'write';
