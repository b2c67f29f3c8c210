/** What is kept of objects. */
export type ObjectAction = 'create' | 'delete' | 'read' | 'rename' | 'restore' | 'rotation_due' | 'update';

/** What is kept of everything else that decides who may read what. */
export type SubjectAction = 'create' | 'delete' | 'merge' | 'purge' | 'rename' | 'revoke' | 'rotate' | 'update';

/** What else entries are about; `identity` is the owner's public key. */
export type SubjectType = 'consumer' | 'consumer_token' | 'identity' | 'passkey' | 'token';

export type AuditAction = ObjectAction | SubjectAction;

interface ObjectEntry {
  readonly action: ObjectAction;
  /** The name when it happened; after a rename the new one. */
  readonly slug: string;
  readonly variantId: string;
  /** Which kept value was read or restored. */
  readonly version?: number | undefined;
  /** The name before a rename. */
  readonly previousSlug?: string | undefined;
}

interface SubjectEntry {
  readonly action: SubjectAction;
  readonly subjectType: SubjectType;
  /** A consumer's name, the id of a token or of a passkey, or a public key. Never a secret. */
  readonly subjectId: string;
  /** A consumer's name before it was renamed or merged into another. */
  readonly previousName?: string | undefined;
}

export type NewAuditEntry = ObjectEntry | SubjectEntry;
