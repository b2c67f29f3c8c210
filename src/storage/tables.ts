/**
 * The tables after all migrations. Times are integer milliseconds and booleans are 0 or 1, which both engines represent
 * in the same way. JSON is text.
 */
export interface Tables {
  backup_schedule: BackupScheduleTable;
  people: PeopleTable;
  sessions: SessionsTable;
  tokens: TokensTable;
  passkeys: PasskeysTable;
  workload_rules: WorkloadRulesTable;
  workload_used_tokens: WorkloadUsedTokensTable;
  device_logins: DeviceLoginsTable;
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
  forge_credentials: ForgeCredentialsTable;
  refresh_schedule: RefreshScheduleTable;
  repository_marks: RepositoryMarksTable;
  pull_request_marks: PullRequestMarksTable;
  action_attempts: ActionAttemptsTable;
  throughput_days: ThroughputDaysTable;
  pull_request_histories: PullRequestHistoriesTable;
  history_readings: HistoryReadingsTable;
  secret_objects: SecretObjectsTable;
  secret_object_consumers: SecretObjectConsumersTable;
  secret_object_tags: SecretObjectTagsTable;
  secret_object_values: SecretObjectValuesTable;
  secret_object_recipients: SecretObjectRecipientsTable;
  secret_consumers: SecretConsumersTable;
  secret_retired_keys: SecretRetiredKeysTable;
  secret_owner: SecretOwnerTable;
  audit_log: AuditLogTable;
  audit_head: AuditHeadTable;
  audit_pending: AuditPendingTable;
  audit_checkpoints: AuditCheckpointsTable;
  audit_archives: AuditArchivesTable;
  replays: ReplaysTable;
  rate_counts: RateCountsTable;
  webhook_deliveries: WebhookDeliveriesTable;
  notification_channels: NotificationChannelsTable;
  notification_preferences: NotificationPreferencesTable;
  notification_events: NotificationEventsTable;
  notification_deliveries: NotificationDeliveriesTable;
  push_keys: PushKeysTable;
  server_key: ServerKeyTable;
}

export interface PeopleTable {
  id: string;
  username: string;
  /** The username in lower case, because names that differ only in case are equal. */
  username_key: string;
  display_name: string;
  is_admin: number;
  created_at: number;
}

export interface SessionsTable {
  /** The SHA-256 of the session id in the cookie. */
  id_hash: string;
  person_id: string;
  created_at: number;
  expires_at: number;
  /** A coarse name such as "Firefox on Linux"; null for sessions of earlier releases. */
  browser: string | null;
  /** Exact to the hour; null for sessions of earlier releases. */
  last_used_at: number | null;
}

export interface TokensTable {
  id: string;
  kind: 'consumer' | 'personal' | 'write';
  /** The SHA-256 of the token. */
  hash: string;
  person_id: string;
  /** The consumer of a consumer token; null for other kinds. */
  consumer: string | null;
  label: string;
  /** The scopes, separated by spaces. */
  scopes: string;
  created_at: number;
  expires_at: number;
  last_used_at: number | null;
  /** Only tokens of the secrets service remain after they are revoked; API tokens are deleted. */
  revoked_at: number | null;
  /** The actor's id in the audit log; null for tokens from the command line, and for API tokens. */
  issued_by: string | null;
  /** The permissions and restrictions of a token of the secrets service, as JSON; null for none. */
  access: string | null;
  /** The rule by which the token was issued to a workload; null for other tokens. */
  workload_rule: string | null;
}

export interface WorkloadRulesTable {
  name: string;
  /** The `iss` claim of the tokens. */
  issuer: string;
  audience: string;
  /** The allowed values of claims, as JSON. */
  claims: string;
  /** The consumer of the issued tokens; null for write tokens. */
  consumer: string | null;
  /** The restrictions of the issued tokens, as JSON; null for none. */
  access: string | null;
  ttl_seconds: number;
  single_use: 0 | 1;
  created_at: number;
  last_used_at: number | null;
}

/** Tokens of issuers that must not be used again. */
export interface WorkloadUsedTokensTable {
  /** The SHA-256 of the issuer and the `jti` claim. */
  id: string;
  expires_at: number;
}

/** Requests of command lines for a token, which the owner decides. */
export interface DeviceLoginsTable {
  /** The SHA-256 of the code with which the command line fetches its token. */
  device_hash: string;
  /** The SHA-256 of the code that the owner enters. */
  user_hash: string;
  client_id: string;
  /** The name that the command line gave; not verified. */
  device_name: string | null;
  address: string;
  /** The requested permissions, separated by spaces. */
  permissions: string;
  created_at: number;
  expires_at: number;
  /** The minimum time between two polls, in milliseconds. */
  interval_ms: number;
  next_poll_at: number;
  /** Null until the owner decides. */
  decision: 'approved' | 'denied' | null;
  /** The token of an approved request. */
  token_id: string | null;
  ttl_seconds: number | null;
}

export interface PasskeysTable {
  /** The credential id in base64url. */
  id: string;
  person_id: string;
  /** 32 random bytes in base64url that identify the user to authenticators. */
  user_handle: string;
  /** The COSE key in base64url. */
  public_key: string;
  counter: number;
  /** The transports, separated by spaces. */
  transports: string;
  label: string;
  created_at: number;
  last_used_at: number | null;
  /** The owner's identity, wrapped with this passkey; opaque to the server. */
  wrapped_identity: string | null;
}

/** One-time links that create an account: invitations, and the setup link, which has no username. */
export interface InvitationsTable {
  id: string;
  /** The SHA-256 of the secret in the link. */
  hash: string;
  username: string | null;
  username_key: string | null;
  display_name: string | null;
  created_at: number;
  expires_at: number;
}

/** Open passkey ceremonies with the data that their completion needs. */
export interface ChallengesTable {
  /** The SHA-256 of the challenge. */
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
  /** The user whose account the event is about. */
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
  /** The board snapshot with drafts, as JSON. */
  snapshot: string;
  /** The last change of each pull request with its time, as JSON; null for boards of earlier releases. */
  changes: string | null;
}

export interface BoardSharesTable {
  owner_id: string;
  viewer_id: string;
}

/** The state of users as viewers of their own board. Users without such state have no row. */
export interface BoardReadersTable {
  person_id: string;
  /** The time of the newest board that the user has seen. */
  seen_at: number | null;
  /** Incremented whenever the same board looks different to the user, such as after a visit or a snooze. */
  revision: number;
}

export interface SnoozesTable {
  person_id: string;
  forge: string;
  /** The full name in lower case. */
  repo: string;
  number: number;
  /** Null if only a change ends the snooze. */
  until: number | null;
  until_change: number;
  /** The time of the pull request's last change before the snooze. A later change may end the snooze. */
  changed_at: number;
}

export interface ViewsTable {
  person_id: string;
  name: string;
  /** The filter, sort order and grouping, as JSON. */
  view: string;
}

/** Feeds: secret URLs of boards and views. */
export interface FeedsTable {
  id: string;
  person_id: string;
  kind: 'atom' | 'badge';
  label: string;
  /** Null for the whole board. */
  view: string | null;
  /** The SHA-256 of the secret in the URL. */
  hash: string;
  created_at: number;
}

/** User settings. A row is created when the settings are first read. */
export interface SettingsTable {
  person_id: string;
  /** The time at which the user first saved forge settings; null before. */
  saved_at: number | null;
  /** The time at which the user last requested a refresh. */
  refreshed_at: number | null;
  /** The forge settings with tokens, as JSON, encrypted with the server key. */
  forges: Uint8Array;
  /** The SHA-256 of the webhook token, by which the owner of a delivery is found. */
  webhook_token_hash: string;
  /** The webhook token and webhook secret, as JSON, encrypted with the server key. */
  webhook: Uint8Array;
  theme: string;
  timezone: string;
  /** JSON that only the pages interpret. */
  filter_state: string;
}

export interface RequestLogTable {
  /** Ids are ordered by time. */
  id: string;
  logged_at: number;
  forge: string;
  method: string;
  endpoint: string;
  outcome: string;
  account: string | null;
  status_code: number | null;
  /** The remaining API quota of the forge, as JSON. */
  budget: string | null;
}

/** Previous tokens and secrets of webhooks that users have rotated. */
export interface RetiredWebhooksTable {
  /** The SHA-256 of the token. */
  token_hash: string;
  person_id: string;
  /** The same format as in {@link SettingsTable}. */
  webhook: Uint8Array;
  /** Deliveries are accepted until this time. */
  expires_at: number;
}

/** The latest snapshot of each repository. */
export interface ForgeReadingsTable {
  person_id: string;
  /** The name of the forge, or the id of a further credential. */
  forge: string;
  /** The id at the forge, which does not change when the repository is renamed. */
  repository_id: string;
  full_name: string;
  /** The revision that the forge reported for this snapshot; empty if the repository must be read again. */
  revision: string;
  /** Whether data is expected to change without a new revision: CI is pending, or mergeability is unknown. */
  /** 0 if settled, 1 if changes are pending, 2 while the forge computes merge statuses. */
  is_unsettled: number;
  /** Whether the snapshot is truncated to the largest number of pull requests that the board accepts. */
  is_cut: number;
  /** 1 if only the pull requests are read in which the user is involved. */
  yours_only: number;
  /** The number of pull requests. */
  pull_requests: number;
  /** The snapshot as JSON. */
  facts: string;
  /** The time of the request to the forge. An older snapshot never replaces a newer one. */
  read_at: number;
  /** The time of the last change of the snapshot. */
  changed_at: number;
}

/** The status of the last refresh of each forge. */
export interface ForgeStatesTable {
  person_id: string;
  /** The name of the forge, or the id of a further credential. */
  forge: string;
  /** The URL of the forge. All stored data becomes invalid when it changes. */
  source: string;
  /** The time of the last successful refresh; null before. */
  read_at: number | null;
  /** The error kind of the last refresh; null if it succeeded. */
  error_kind: string | null;
  /** The number of failed refreshes since the last success. */
  failures: number;
  /** The time of a retry before the next scheduled refresh; null for none. */
  retry_at: number | null;
  /** The time until which the forge accepts no requests; null if unknown. */
  paused_until: number | null;
  /** The remaining API quotas of the forge, as JSON. */
  budgets: string;
  /** The repositories that the last refresh could not see, as JSON; null for nothing. */
  hidden: string | null;
  /** Why the last search for the user's pull requests is incomplete, as JSON; null if it is complete. */
  incomplete_search: string | null;
  /** When the credential expires; null if the forge does not report it. */
  expires_at: number | null;
}

/** Further credentials of forges, beside the one of each kind in `settings`. */
export interface ForgeCredentialsTable {
  id: string;
  person_id: string;
  forge: string;
  label: string;
  /** Empty for github.com. */
  url: string;
  /** The username and the token, encrypted. */
  sealed: Uint8Array;
  created_at: number;
  saved_at: number;
}

/** The schedule and leases of board refreshes. */
export interface RefreshScheduleTable {
  person_id: string;
  /** The time of the next refresh of the whole board. */
  due_at: number;
  /** The time of the next refresh of the whole board or a part of it. */
  look_at: number;
  /** A random id of the process that refreshes the board. */
  lease_holder: string | null;
  /** Extended during the refresh. After this time another process may acquire the lease. */
  lease_until: number;
  /** The number of leases so far. */
  runs_begun: number;
  /** The number of the last lease under which the whole board was read. */
  run_done: number;
}

/** User settings and observations for a repository. Repositories without any have no row. */
export interface RepositoryMarksTable {
  person_id: string;
  forge: string;
  /** The full name in lower case. */
  repo: string;
  ignored_prs: number;
  ignored_issues: number;
  auto_update_branch: number;
  /** The time of the last verified webhook delivery; null before. */
  webhook_seen_at: number | null;
}

/** The local state of pull requests, in addition to the data of the forge. */
export interface PullRequestMarksTable {
  person_id: string;
  forge: string;
  /** The full name in lower case. */
  repo: string;
  number: number;
  kind: 'auto_merge' | 'auto_merged' | 'auto_update' | 'bot_request' | 'held' | 'update_request';
  /** JSON with a schema that depends on the kind. */
  state: string;
  /** The time after which the row is ignored; null if it remains until it is removed. */
  expires_at: number | null;
}

/** Actions that are being sent to a forge, or whose outcome is unknown. */
export interface ActionAttemptsTable {
  person_id: string;
  forge: string;
  /** The full name in lower case. */
  repo: string;
  number: number;
  action: string;
  /** A random id of the sender. */
  claim: string;
  /** The newest commit when the action was sent; null if unknown. */
  head_sha: string | null;
  began_at: number;
  /** Extended while the action is being sent. After this time, its outcome is unknown. */
  lease_until: number;
}

/** The number of pull requests opened and closed per board and day. Days without a refresh have no row. */
export interface ThroughputDaysTable {
  person_id: string;
  /** The day, such as `2026-05-02`, in the time zone of the user at that time. */
  day: string;
  opened_count: number;
  left_count: number;
  /** The number of open pull requests on the last board of the day; null without a board. */
  open_count: number | null;
}

/** The review times of pull requests that changed within the retention period. */
export interface PullRequestHistoriesTable {
  person_id: string;
  /** The name of the forge, or the id of a further credential. */
  forge: string;
  /** The id at the forge, which does not change when the repository is renamed. */
  repository_id: string;
  number: number;
  title: string;
  url: string;
  author: string;
  author_is_bot: number;
  is_draft: number;
  /** The times of the review as JSON. */
  times: string;
  closed_at: number | null;
  updated_at: number;
}

/** When the history of each repository was read, and the revision of the repository that was read before. */
export interface HistoryReadingsTable {
  person_id: string;
  forge: string;
  repository_id: string;
  revision: string;
  read_at: number;
}

export interface SecretObjectsTable {
  id: string;
  slug: string;
  description: string | null;
  /** The version of the current value. */
  version: number;
  created_at: number;
  /** The time of the current value; the columns `updated_by_*` have its author. */
  updated_at: number;
  created_by_type: string;
  created_by_id: string;
  updated_by_type: string;
  updated_by_id: string;
  rotate_after_days: number | null;
  /** The version for which the audit log has recorded that rotation is due. */
  noted_version: number | null;
  /** 1 if `findResealReason` has a reason for the current value; see `updateResealState`. */
  needs_reseal: number;
}

/** The slug and time of the secret, which sort the secrets of a tag or consumer by index. */
interface SecretOrderColumns {
  slug: string;
  created_at: number;
}

export interface SecretObjectConsumersTable extends SecretOrderColumns {
  object_id: string;
  consumer: string;
}

export interface SecretObjectTagsTable extends SecretOrderColumns {
  object_id: string;
  tag: string;
}

/** The current and previous values of secrets. */
export interface SecretObjectValuesTable {
  object_id: string;
  /** The number of the value, from 1. */
  version: number;
  created_at: number;
  created_by_type: string;
  created_by_id: string;
  /** Null for the current value, like the next two columns. */
  replaced_at: number | null;
  replaced_by_type: string | null;
  replaced_by_id: string | null;
  /** The number of recipients in the age header. */
  recipient_count: number;
  sealed: Uint8Array;
  /** The writer's statement about the value and its signature; null for a value that its writer has not signed. */
  signature: string | null;
}

/** The recipients of a value, as far as the sender has listed them. */
export interface SecretObjectRecipientsTable {
  object_id: string;
  version: number;
  recipient: string;
  /** 1 for a key that the sender chose itself; it belonged to no consumer of the secret, nor to the owner. */
  is_explicit: number;
}

/** Consumers that were added explicitly or have a public key. Consumers that secrets merely refer to need no row. */
export interface SecretConsumersTable {
  name: string;
  public_key: string | null;
}

/** The last public keys of consumers that were deleted or renamed, by their former name. */
export interface SecretRetiredKeysTable {
  name: string;
  public_key: string;
}

/** The owner's identity. The table has at most one row, with the id 1. */
export interface SecretOwnerTable {
  id: number;
  public_key: string;
  /** The identity, wrapped with the recovery phrase; opaque to the server. */
  recovery_wrapped_identity: string | null;
}

export interface AuditLogTable {
  /** The position in the chain, from 1 without gaps. */
  id: number;
  action: string;
  subject_type: string;
  /** The slug of the secret at that time; null if the subject is not a secret. */
  slug: string | null;
  variant_id: string | null;
  version: number | null;
  /** The name of a consumer, the id of a token or a passkey, or a public key; null if the subject is a secret. */
  subject_id: string | null;
  /** The slug or name before a rename. */
  previous_name: string | null;
  at: number;
  ip: string;
  /** The self-reported name of the client, unverified. */
  caller: string | null;
  actor_type: string | null;
  actor_id: string | null;
  /** Further facts as JSON, such as the digest of a value; null for none, and in entries of earlier releases. */
  detail: string | null;
  /** The SHA-256 over the hash of the previous entry and this entry, in hex. */
  hash: string;
}

/** The end of the audit log. The table has at most one row, with the id 1. */
export interface AuditHeadTable {
  id: number;
  /** The number of entries, which is the id of the last entry. */
  count: number;
  /** The hash of the last entry. */
  hash: string;
}

/** Committed entries of the audit log that are not part of the chain yet. */
export interface AuditPendingTable extends Omit<AuditLogTable, 'hash' | 'id'> {
  /** The order of the entries, assigned by the database. Transactions may commit in a different order. */
  number: number;
  /** The HMAC of the entry, with a key derived from the server key; null if the writer had no key. */
  signature: string | null;
  /** Whether the entry stays out of the chain, because its signature is wrong. */
  is_rejected: number;
}

/** Positions of the audit log, signed when they were the end of the chain. */
export interface AuditCheckpointsTable {
  /** The id of the entry. */
  id: number;
  /** The hash of the entry. */
  hash: string;
  /** The HMAC of the position and the hash, with a key derived from the server key. */
  signature: string;
}

/** The files with archived entries of the audit log. */
export interface AuditArchivesTable {
  /** The id of the first entry in the file. */
  first_id: number;
  last_id: number;
  /** The hash of the last entry. */
  hash: string;
  name: string;
  /** The SHA-256 of the uncompressed text, in hex. */
  digest: string;
  archived_at: number;
  /** The HMAC of the other columns except the time, with a key derived from the server key. */
  signature: string;
}

/** The stored responses to requests with an idempotency key. */
export interface ReplaysTable {
  /** The hash of the caller, the operation and the idempotency key. */
  id: string;
  /** The hash of the parameters and the body. */
  fingerprint: string;
  /** The response as JSON, encrypted with a key derived from the idempotency key. */
  sealed: Uint8Array;
  expires_at: number;
  /** The time since which a request that calls other servers is in progress; null once it has a response. */
  claimed_at: number | null;
}

export interface RateCountsTable {
  /** The rate limit and the address or credential. */
  key: string;
  taken: number;
  ends_at: number;
}

export interface WebhookDeliveriesTable {
  /** The hash of the user, the forge and the delivery id of the forge. */
  id: string;
  expires_at: number;
}

/** Where users receive notifications. */
export interface NotificationChannelsTable {
  id: string;
  person_id: string;
  kind: string;
  label: string;
  /** The e-mail address, or the host of the URL. */
  target: string;
  /** The address, URL, subscription or secret, as JSON, encrypted with the server key. */
  sealed: Uint8Array;
  /** The kinds of events that the channel receives, as JSON. */
  events: string;
  /** Whether the channel receives the digest. */
  digest: number;
  created_at: number;
  /** Null until the user has confirmed the e-mail address. */
  confirmed_at: number | null;
  /** The number of wrong codes. */
  code_tries: number;
}

/** When a user receives notifications. Users without own values have no row. */
export interface NotificationPreferencesTable {
  person_id: string;
  /** As JSON. */
  preferences: string;
  /** When the next digest is due; null for none. */
  digest_at: number | null;
}

/** Events for a channel, stored in the transaction of the board on which they appear. */
export interface NotificationEventsTable {
  channel_id: string;
  /** Identifies the event, so that the same event is never sent twice. */
  event_key: string;
  person_id: string;
  /** As JSON. */
  event: string;
  /** 1 until the forge has confirmed that the pull request was merged. */
  is_unconfirmed: number;
  created_at: number;
  /** When the event becomes part of a message; null afterwards. */
  due_at: number | null;
}

/** Messages to a channel. */
export interface NotificationDeliveriesTable {
  /** Identifies the message for its receiver too. */
  id: string;
  person_id: string;
  channel_id: string;
  channel_kind: string;
  channel_label: string;
  /** As JSON. */
  message: string;
  state: string;
  attempts: number;
  created_at: number;
  /** When the first or the next attempt is due. */
  next_at: number;
  /** A random id of the attempt in progress. */
  lease_holder: string | null;
  /** After this time another process may send the message. */
  lease_until: number;
  ended_at: number | null;
  error: string | null;
}

/** The key pair of the server for web push (VAPID). The table has at most one row, with the id 1. */
export interface PushKeysTable {
  id: number;
  public_key: string;
  /** The private key, encrypted with the server key. */
  sealed: Uint8Array;
}

/** The schedule of backups. The table has at most one row, with the id 1. */
export interface BackupScheduleTable {
  id: number;
  due_at: number;
  /** A random id of the run that makes the backup. */
  lease_holder: string | null;
  /** Extended during the backup. After this time another process may acquire the lease. */
  lease_until: number;
  last_name: string | null;
  last_at: number | null;
}

/** A check value for the server key. The table has at most one row, with the id 1. */
export interface ServerKeyTable {
  id: number;
  /** A constant text, encrypted with the server key. */
  sealed: Uint8Array;
}

/** Returns the lookup key of a username. Names that differ only in case have the same key. */
export function toUsernameKey(username: string): string {
  return username.normalize('NFC').toLowerCase();
}
