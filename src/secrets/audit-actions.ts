/** What is kept of objects: a slug, and which variant of it. */
export type ObjectAction = 'create' | 'delete' | 'read' | 'rename' | 'restore' | 'update';

/** What is kept of everything else that decides who may read what. */
export type SubjectAction =
  | 'consumer_add'
  | 'consumer_delete'
  | 'consumer_merge'
  | 'consumer_rename'
  | 'consumer_set_key'
  | 'consumer_token_create'
  | 'consumer_token_purge'
  | 'consumer_token_revoke'
  | 'consumer_token_rotate'
  | 'identity_set'
  | 'passkey_add'
  | 'passkey_remove'
  | 'passkey_rename'
  | 'token_create'
  | 'token_purge'
  | 'token_revoke'
  | 'token_rotate';

export type AuditAction = ObjectAction | SubjectAction;

interface ObjectEntry {
  readonly action: ObjectAction;
  /** The name when it happened; after a rename the new one. */
  readonly slug: string;
  readonly variantId: string;
  /** The name before a rename. */
  readonly previousSlug?: string;
}

interface SubjectEntry {
  readonly action: SubjectAction;
  /** A consumer's name, or the id of a token or of a passkey. Never a secret. */
  readonly subject: string;
  /** A consumer's name before it was renamed or merged into another. */
  readonly previousName?: string;
}

export type NewAuditEntry = ObjectEntry | SubjectEntry;
