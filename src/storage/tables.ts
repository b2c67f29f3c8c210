/**
 * The tables as they are after every migration. Times are integer milliseconds
 * and booleans 0 or 1, which both engines keep alike; JSON is text.
 */
export interface Tables {
  people: PeopleTable;
  sessions: SessionsTable;
  tokens: TokensTable;
  passkeys: PasskeysTable;
  invitations: InvitationsTable;
  challenges: ChallengesTable;
  account_events: AccountEventsTable;
  boards: BoardsTable;
  board_shares: BoardSharesTable;
  board_readers: BoardReadersTable;
  snoozes: SnoozesTable;
  views: ViewsTable;
  feeds: FeedsTable;
  settings: SettingsTable;
  request_log: RequestLogTable;
  retired_webhooks: RetiredWebhooksTable;
  forge_readings: ForgeReadingsTable;
  forge_states: ForgeStatesTable;
  refresh_schedule: RefreshScheduleTable;
  repository_marks: RepositoryMarksTable;
  pull_request_marks: PullRequestMarksTable;
  action_attempts: ActionAttemptsTable;
  throughput_days: ThroughputDaysTable;
  secret_objects: SecretObjectsTable;
  secret_object_consumers: SecretObjectConsumersTable;
  secret_object_tags: SecretObjectTagsTable;
  secret_object_values: SecretObjectValuesTable;
  secret_object_recipients: SecretObjectRecipientsTable;
  secret_consumers: SecretConsumersTable;
  secret_owner: SecretOwnerTable;
  audit_log: AuditLogTable;
  audit_head: AuditHeadTable;
  replays: ReplaysTable;
  rate_counts: RateCountsTable;
  webhook_deliveries: WebhookDeliveriesTable;
  server_key: ServerKeyTable;
}

export interface PeopleTable {
  id: string;
  username: string;
  /** The username in lower case: two names that differ in case alone are one. */
  username_key: string;
  display_name: string;
  is_admin: number;
  created_at: number;
}

export interface SessionsTable {
  /** SHA-256 of the id that the cookie carries. */
  id_hash: string;
  person_id: string;
  created_at: number;
  expires_at: number;
}

export interface TokensTable {
  id: string;
  kind: 'consumer' | 'personal' | 'write';
  /** SHA-256 of the token. */
  hash: string;
  person_id: string;
  /** Whom a consumer token speaks for; null for the other kinds. */
  consumer: string | null;
  label: string;
  /** Space-separated. */
  scopes: string;
  created_at: number;
  expires_at: number;
  last_used_at: number | null;
  /** Tokens of the secrets service stay when they are revoked; personal ones go. */
  revoked_at: number | null;
  /** The actor's id in the audit log; null for one of the command line, and for personal ones. */
  issued_by: string | null;
}

export interface PasskeysTable {
  /** The credential's id, base64url. */
  id: string;
  person_id: string;
  /** 32 random bytes, base64url, which stand for the person on their authenticators. */
  user_handle: string;
  /** COSE, base64url. */
  public_key: string;
  counter: number;
  /** Space-separated. */
  transports: string;
  label: string;
  created_at: number;
  last_used_at: number | null;
  /** The identity of the secrets' owner, wrapped by this passkey; opaque to the server. */
  wrapped_identity: string | null;
}

/** Links that let one person in: invitations, and the setup link, which has no name yet. */
export interface InvitationsTable {
  id: string;
  /** SHA-256 of the secret in the link. */
  hash: string;
  username: string | null;
  username_key: string | null;
  display_name: string | null;
  created_at: number;
  expires_at: number;
}

/** Ceremonies under way, and what they are to remember. */
export interface ChallengesTable {
  /** SHA-256 of the challenge. */
  hash: string;
  ceremony: 'add' | 'register' | 'sign_in';
  person_id: string | null;
  invitation_id: string | null;
  username: string | null;
  display_name: string | null;
  user_handle: string | null;
  expires_at: number;
}

export interface AccountEventsTable {
  id: string;
  at: number;
  action: string;
  /** Whose account it is about. */
  person_id: string | null;
  actor_type: string;
  actor_id: string | null;
  /** The id of the token, passkey or invitation, or a name. */
  subject: string | null;
  address: string;
}

export interface BoardsTable {
  person_id: string;
  generated_at: number;
  /** JSON of the whole board, drafts included. */
  snapshot: string;
  /** JSON of what each pull request last changed to, and when; null before that was kept. */
  changes: string | null;
}

export interface BoardSharesTable {
  owner_id: string;
  viewer_id: string;
}

/** How far somebody has read their own board; whoever has said nothing of it has no row. */
export interface BoardReadersTable {
  person_id: string;
  /** The time of the newest board that they say they have seen. */
  seen_at: number | null;
  /** Moves on whenever the same board looks different to them: a visit, something set aside or taken up. */
  revision: number;
}

export interface SnoozesTable {
  person_id: string;
  forge: string;
  /** The full name in lower case. */
  repo: string;
  number: number;
  /** Null when only a change ends it. */
  until: number | null;
  until_change: number;
  /** When the pull request had last changed as it was set aside: a later change is one that may end it. */
  changed_at: number;
}

export interface ViewsTable {
  person_id: string;
  name: string;
  /** JSON of its filter, order and groups. */
  view: string;
}

/** Addresses at which anyone reads somebody's board. */
export interface FeedsTable {
  id: string;
  person_id: string;
  kind: 'atom' | 'badge';
  label: string;
  /** Null for the whole board. */
  view: string | null;
  /** SHA-256 of the secret in the address. */
  hash: string;
  created_at: number;
}

/** A row is made when somebody's settings are first asked for. */
export interface SettingsTable {
  person_id: string;
  /** When the person first saved them; null before. */
  saved_at: number | null;
  /** When the person last asked for a refresh. */
  refreshed_at: number | null;
  /** JSON of everything about forges, tokens included, sealed with the server's key. */
  forges: Uint8Array;
  /** SHA-256 of the webhook token, which deliveries are found by. */
  webhook_token_hash: string;
  /** JSON of the webhook's token and secret, sealed with the server's key. */
  webhook: Uint8Array;
  theme: string;
  timezone: string;
  /** JSON, for the pages alone. */
  filter_state: string;
}

export interface RequestLogTable {
  /** In the order of time. */
  id: string;
  logged_at: number;
  forge: string;
  method: string;
  endpoint: string;
  outcome: string;
  account: string | null;
  status_code: number | null;
  /** JSON of what was left of the forge's budget. */
  budget: string | null;
}

/** Webhooks that people gave another token and secret, as they were. */
export interface RetiredWebhooksTable {
  /** SHA-256 of the token. */
  token_hash: string;
  person_id: string;
  /** As in the settings. */
  webhook: Uint8Array;
  /** From then on no delivery is taken. */
  expires_at: number;
}

/** What a forge last said of one repository. */
export interface ForgeReadingsTable {
  person_id: string;
  forge: string;
  /** The forge's own, which outlives names. */
  repository_id: string;
  full_name: string;
  /** As the forge had it when it was read; empty when it is to be read again anyway. */
  revision: string;
  /** Some of it is about to change without the revision telling: CI is pending, or whether it merges is not known yet. */
  is_unsettled: number;
  /** There may be more pull requests than were read, as the board takes no more. */
  is_cut: number;
  /** How many there are. */
  pull_requests: number;
  /** JSON. */
  facts: string;
  /** When the forge was asked: an older reading never takes the place of a newer one. */
  read_at: number;
  /** When the facts last became others. */
  changed_at: number;
}

/** How the last reading of a forge went. */
export interface ForgeStatesTable {
  person_id: string;
  forge: string;
  /** The address of the server that was read: of another, nothing read still holds. */
  source: string;
  /** When it was last read with success; null before. */
  read_at: number | null;
  /** Why the last reading failed; null when it didn't. */
  error_kind: string | null;
  /** How many readings have failed since. */
  failures: number;
  /** When it is tried again before the next refresh; null for not at all. */
  retry_at: number | null;
  /** Until when the forge takes no requests; null when it didn't say. */
  paused_until: number | null;
  /** JSON of what is left of the forge's budgets. */
  budgets: string;
}

/** Whose board is to be refreshed when, and who does it. */
export interface RefreshScheduleTable {
  person_id: string;
  /** When the whole board is due. */
  due_at: number;
  /** When anything is, the whole or a part. */
  look_at: number;
  /** Random, of whoever works on the board. */
  lease_holder: string | null;
  /** Moved on while work goes on; past, the board is free. */
  lease_until: number;
  /** How often the lease was taken. */
  runs_begun: number;
  /** Which of those last read the whole board to the end. */
  run_done: number;
}

/** What a person said, or we know, of a repository; one that nothing is said of has no row. */
export interface RepositoryMarksTable {
  person_id: string;
  forge: string;
  /** The full name in lower case. */
  repo: string;
  ignored_prs: number;
  ignored_issues: number;
  auto_update_branch: number;
  /** When a delivery of it last proved to be the forge's; null before. */
  webhook_seen_at: number | null;
}

/** What is kept here of a pull request, beside what its forge says. */
export interface PullRequestMarksTable {
  person_id: string;
  forge: string;
  /** The full name in lower case. */
  repo: string;
  number: number;
  kind: 'auto_merge' | 'auto_merged' | 'auto_update' | 'bot_request' | 'held' | 'update_request';
  /** JSON, of a shape that the kind tells. */
  state: string;
  /** From then on there might as well be no row; null for what somebody has to end. */
  expires_at: number | null;
}

/** Actions that are being sent to a forge, or were without an answer. */
export interface ActionAttemptsTable {
  person_id: string;
  forge: string;
  /** The full name in lower case. */
  repo: string;
  number: number;
  action: string;
  /** Random, of whoever sends it. */
  claim: string;
  /** The newest commit when it was sent; null when that wasn't known. */
  head_sha: string | null;
  began_at: number;
  /** Moved on while it is being sent; past, its outcome is unknown. */
  lease_until: number;
}

/** How many pull requests came to a board and left it; a day of which nothing was seen has no row. */
export interface ThroughputDaysTable {
  person_id: string;
  /** As `2026-05-02`, in the time zone that the person had then. */
  day: string;
  opened_count: number;
  left_count: number;
  /** How many the last board of the day had; null when none was made. */
  open_count: number | null;
}

export interface SecretObjectsTable {
  id: string;
  slug: string;
  description: string | null;
  /** Of the present value. */
  version: number;
  created_at: number;
  /** When the present value came, and who sent it. */
  updated_at: number;
  created_by_type: string;
  created_by_id: string;
  updated_by_type: string;
  updated_by_id: string;
  rotate_after_days: number | null;
  /** Of the value that the audit log has told to be due for rotation. */
  noted_version: number | null;
}

export interface SecretObjectConsumersTable {
  object_id: string;
  consumer: string;
}

export interface SecretObjectTagsTable {
  object_id: string;
  tag: string;
}

/** The present values of objects, and those that were replaced. */
export interface SecretObjectValuesTable {
  object_id: string;
  /** Counts the values of an object from 1. */
  version: number;
  created_at: number;
  created_by_type: string;
  created_by_id: string;
  /** Null for the present value, as are the two columns behind. */
  replaced_at: number | null;
  replaced_by_type: string | null;
  replaced_by_id: string | null;
  /** What the age header tells. */
  recipient_count: number;
  sealed: Uint8Array;
}

/** The public keys that a value is sealed to, as far as its sender has told them. */
export interface SecretObjectRecipientsTable {
  object_id: string;
  version: number;
  recipient: string;
}

/** Consumers that were added by name or have a key; names that objects use need no row. */
export interface SecretConsumersTable {
  name: string;
  public_key: string | null;
}

/** At most one row, whose id is 1. */
export interface SecretOwnerTable {
  id: number;
  public_key: string;
  /** The identity wrapped by a recovery phrase; opaque to the server. */
  recovery_wrapped_identity: string | null;
}

export interface AuditLogTable {
  /** From 1, without gaps, in the order of the chain. */
  id: number;
  action: string;
  subject_type: string;
  /** The object's slug when it happened; null when it is about something else. */
  slug: string | null;
  variant_id: string | null;
  version: number | null;
  /** A consumer's name, the id of a token or of a passkey, or a public key; null when it is about an object. */
  subject_id: string | null;
  /** The slug or name before a rename. */
  previous_name: string | null;
  at: number;
  ip: string;
  /** What the client says of itself, unproven. */
  caller: string | null;
  actor_type: string | null;
  actor_id: string | null;
  /** SHA-256 over the entry before and this one, in hex. */
  hash: string;
}

/** At most one row, whose id is 1. */
export interface AuditHeadTable {
  id: number;
  /** How many entries there are, which is the last one's id. */
  count: number;
  /** The last one's hash. */
  hash: string;
}

export interface ReplaysTable {
  /** Hash of who asked for what under which key. */
  id: string;
  /** Hash of the request's parameters and body. */
  fingerprint: string;
  /** The answer as JSON, encrypted with a key that only the idempotency key gives. */
  sealed: Uint8Array;
  expires_at: number;
  /** Since when it is being answered by whoever reaches out for it; null when it is answered. */
  claimed_at: number | null;
}

export interface RateCountsTable {
  /** What is counted, and of whom. */
  key: string;
  taken: number;
  ends_at: number;
}

export interface WebhookDeliveriesTable {
  /** Hash of whose it is, of the forge and of what that calls it. */
  id: string;
  expires_at: number;
}

/** At most one row, whose id is 1. */
export interface ServerKeyTable {
  id: number;
  /** A text that everybody knows, sealed with the key that the database is used with. */
  sealed: Uint8Array;
}
