/** The audited actions on secrets. */
export type ObjectAction = 'create' | 'delete' | 'read' | 'rename' | 'restore' | 'rotation_due' | 'update';

/** The audited actions on everything else that decides who can read secrets. */
export type SubjectAction = 'create' | 'delete' | 'merge' | 'purge' | 'rename' | 'revoke' | 'rotate' | 'update';

/** The audited subjects other than secrets; `identity` is the owner's public key. */
export type SubjectType = 'consumer' | 'consumer_token' | 'identity' | 'passkey' | 'token';

export type AuditAction = ObjectAction | SubjectAction;

interface ObjectEntry {
  readonly action: ObjectAction;
  /** The slug at the time of the action; after a rename, the new one. */
  readonly slug: string;
  readonly variantId: string;
  /** The previous version that was read or restored. */
  readonly version?: number | undefined;
  /** The slug before a rename. */
  readonly previousSlug?: string | undefined;
}

interface SubjectEntry {
  readonly action: SubjectAction;
  readonly subjectType: SubjectType;
  /** The name of a consumer, the id of a token or passkey, or a public key; never a secret. */
  readonly subjectId: string;
  /** The name of a consumer before it was renamed or merged. */
  readonly previousName?: string | undefined;
}

export type NewAuditEntry = ObjectEntry | SubjectEntry;
