/**
 * The rules of the secrets service (`docs/secrets.md`, `openapi/secrets.yaml`), each with its test. Rules that the
 * contract tests check for every operation, such as the documented responses, are not repeated.
 */
export interface Rule {
  readonly about: string;
  readonly rule: string;
  /** The path from the root of the repository. */
  readonly file: string;
  readonly test: string;
}

type Row = readonly [rule: string, file: string, test: string];

const rulesAbout = (about: string, rows: readonly Row[]): Rule[] =>
  rows.map(([rule, file, test]) => ({ about, rule, file, test }));

const OBJECTS = 'tests/secrets/objects.test.ts';
const VERSIONS = 'tests/secrets/versions.test.ts';
const ROTATION = 'tests/secrets/rotation.test.ts';
const RESEAL = 'tests/secrets/reseal.test.ts';
const AUDIT = 'tests/secrets/audit.test.ts';
const WRITERS = 'tests/secrets/audit-writers.test.ts';

const DENIALS = 'tests/secrets/denials.test.ts';

const HEADER = 'tests/secrets/age-file.test.ts';
const SCOPES = 'tests/secrets/token-scope.test.ts';
const MASKED = 'tests/secrets/hidden-secrets.test.ts';
const WIRE = 'tests/contract/secrets/objects.ts';
const VARIANTS = 'tests/contract/secrets/variants.ts';
const WIRE_VERSIONS = 'tests/contract/secrets/versions.ts';
const CONSUMERS = 'tests/contract/secrets/consumers.ts';
const TOKENS = 'tests/contract/secrets/tokens.ts';
const WIRE_AUDIT = 'tests/contract/secrets/audit.ts';
const AUTH = 'tests/contract/secrets/auth.ts';
const IDENTITY = 'tests/contract/secrets/identity.ts';
const PERMISSIONS = 'tests/contract/secrets/permissions.ts';
const REFUSALS = 'tests/contract/secrets/refusals.ts';
const HEALTH = 'tests/contract/secrets/health.ts';
const HOSTILE = 'tests/contract/secrets-hostile.test.ts';
const KILLED = 'tests/contract/secrets-killed.test.ts';
const MCP = 'tests/contract/secrets-mcp.test.ts';
const REPLAYS = 'tests/storage/idempotency-store.test.ts';
const READINESS = 'tests/storage/readiness.test.ts';
const ROUTER = 'packages/server/tests/rest/router.test.ts';
const LIMITS = 'packages/server/tests/http/rate-limits.test.ts';
const PASSKEYS = 'tests/accounts/security-passkeys.test.ts';
const MACHINE = 'tests/commands/tokens.test.ts';
const PLAIN = 'tests/commands/secrets/no-plain-values.test.ts';

const VARIANT = 'createObject creates a variant of an existing slug; returns 409 without unused consumers';
const ONE_OF_SEVERAL = '%s requires the id of a variant if the slug has several';
const OPERATION_IS_FOR = '%s accepts the credentials of: %s';
const ENTRIES =
  'Changes of tokens and consumers are recorded with their actor and the name that the client gave itself';
const REVOKED = 'can be revoked, and stays listed until it is purged';
const ROTATED = 'can be rotated, which invalidates the old value immediately and changes nothing else';
const LIVES = 'is returned once, is valid for 90 days, and is listed without its value';
const OWNER_PASSKEYS = 'are listed in pages, renamed and removed, except the last one';
const LISTED = 'Lists reject parameters outside their limits: %s';
const CHAIN = 'eight concurrent writers succeed and number their entries without gaps: %s';
const RECORDED = 'has one entry for each change and read, and none for failed requests';
const OPTIONS = 'listFilterOptions: returns each distinct value once';
const OWN_VARIANT = 'getObject returns only the variant of its consumer for a consumer token';
const METADATA = 'createObject returns metadata without times, and listObjects includes them';
const OWN_COPY = 'An additional passkey of the owner gets its own copy of the identity, and no new session';

export const RULES: readonly Rule[] = [
  ...rulesAbout('slugs, ids and variants', [
    ['secrets with the same slug are variants with their own id, value and consumers', WIRE, VARIANT],
    [
      'a consumer belongs to at most one variant of a slug, which is checked in the transaction',
      OBJECTS,
      'belong to one variant, despite concurrent requests',
    ],
    ['a new secret with an existing slug needs consumers, none of them in a different variant', WIRE, VARIANT],
    ['a single variant is found without an id; several require one', VARIANTS, ONE_OF_SEVERAL],
    ['an invalid id returns 400', VARIANTS, ONE_OF_SEVERAL],
    ['an id that does not belong to the slug returns 404', VARIANTS, ONE_OF_SEVERAL],
    ['a consumer token reads only the variant that names its consumer', WIRE, OWN_VARIANT],
    [
      'an update that would give a consumer two variants returns 409 and changes nothing',
      WIRE,
      'updateObject: returns 409 for a consumer of a different variant, and changes nothing',
    ],
    [
      'renaming or merging consumers does the same',
      CONSUMERS,
      'are not merged when they belong to different variants of a slug',
    ],
    ['a consumer can move between variants', OBJECTS, 'can move between variants'],
    ['the list contains each variant', VARIANTS, 'listObjects returns each variant of a slug, oldest first'],
    [
      'updated_at changes only with the value, and equals created_at before',
      OBJECTS,
      'updated_at changes only with the value',
    ],
    ['a change without a description keeps it', OBJECTS, 'update and rename keep the description'],
    ['a rename keeps id, value, tags, consumers and times', WIRE, 'renameObject changes nothing except the slug'],
    [
      'a rename returns 409 if a variant of the new slug shares a consumer, or if either has none',
      WIRE,
      'renameObject: returns 409 for a shared or missing consumer under the new slug',
    ],
    ['the entry of a rename contains the previous slug', OBJECTS, RECORDED],
    ['a deletion removes one variant', WIRE, 'deleteObject deletes one variant'],
  ]),
  ...rulesAbout('metadata', [
    ['only the list returns times and actors; tags are always returned', WIRE, METADATA],
    ['a slug has letters, digits, _ and -, and starts with a letter or digit', OBJECTS, 'is valid with %s'],
    [
      'create and rename validate the slug alike, and reject look-alike characters',
      OBJECTS,
      'is invalid with %s, in create and rename',
    ],
    ['slugs are case-sensitive', OBJECTS, 'is case-sensitive'],
    [
      'tags are lower-cased and deduplicated; at most 10 of 32 characters each',
      OBJECTS,
      'are lower-cased, deduplicated and sorted',
    ],
    ['invalid tags are rejected, including look-alike characters', OBJECTS, 'the Kelvin sign, whose lower case is a k'],
    [
      'the list matches all given tags, regardless of case',
      OBJECTS,
      'are matched regardless of case, and all of them must match',
    ],
    [
      'used_by is replaced if it is given, and unchanged otherwise',
      OBJECTS,
      'are replaced if they are given, and unchanged otherwise',
    ],
    ['a consumer that is named twice is stored once', WIRE, 'getObjectUsedBy returns the consumers of the variant'],
    ['keep_readable_copy is returned but not stored', WIRE, METADATA],
  ]),
  ...rulesAbout('permissions', [
    ['each operation accepts exactly the credentials of its line in the table', PERMISSIONS, OPERATION_IS_FOR],
    ['the table contains every operation', PERMISSIONS, 'The table contains every operation'],
    ['a session has all permissions of a write token, and more', PERMISSIONS, OPERATION_IS_FOR],
    [
      'a write token manages consumer tokens',
      TOKENS,
      'A write token can manage consumer tokens, and is recorded as the actor',
    ],
    ['a write token may be limited to permissions and addresses', PERMISSIONS, OPERATION_IS_FOR],
    [
      'a write token may be limited to some secrets',
      SCOPES,
      'a token that is limited by %s sees and changes only its own secrets',
    ],
    [
      'the table contains the permissions of the contract',
      PERMISSIONS,
      'The table contains the permissions of the contract',
    ],
    ['a write token cannot create a write token', REFUSALS, '$id: returns 403 for a write token'],
    [
      'the first write token is created on the command line',
      MACHINE,
      'tokens: create and revoke write and consumer tokens, recorded in the audit log',
    ],
    [
      'a consumer token gets 401 for every operation except listing and reading its secrets',
      REFUSALS,
      '$id: returns 401 for a consumer token',
    ],
    ['the secret of a different consumer returns the 404 of an unknown slug', WIRE, OWN_VARIANT],
    [
      'with the same database work',
      MASKED,
      'read: causes the same database work for unknown secrets and for those of other consumers',
    ],
    [
      'every operation that returns stored data requires a credential',
      REFUSALS,
      '$id: returns 401 without a credential',
    ],
    ['unknown, expired, revoked and rotated tokens get the same response', PERMISSIONS, OPERATION_IS_FOR],
    ['only the owner is accepted', REFUSALS, '$id: returns 403 for users other than the owner'],
    ['API tokens of the dashboard are rejected', REFUSALS, '$id: returns 401 for an API token of the dashboard'],
    ['the audit log, its filter options and used-by require the owner', PERMISSIONS, OPERATION_IS_FOR],
    ['the domain also checks that the caller is the owner', AUDIT, 'the audit log and the list of secrets reject %s'],
    ['permissions are checked before existence', OBJECTS, 'must be the owner, which is checked first: %s'],
    ['an Authorization header takes precedence over a cookie', HOSTILE, 'a bad token beside the cookie of the owner'],
    ['two credentials are rejected', HOSTILE, 'two credentials'],
    [
      'a cookie in a cross-site request changes nothing',
      REFUSALS,
      '$id: returns 403 for a cross-site request with the cookie',
    ],
  ]),
  ...rulesAbout('the audit log', [
    ['each create, read, update, rename, delete and restore of a secret has one entry', OBJECTS, RECORDED],
    ['each change to consumers and tokens has one entry', WIRE_AUDIT, ENTRIES],
    [
      'each change to passkeys has one entry, from any service',
      AUTH,
      'changed by the dashboard are recorded in the audit log too',
    ],
    [
      'storing the public key of the owner has one entry',
      IDENTITY,
      'keepIdentity stores the first public key, the first recovery copy and a copy for each passkey, with one audit entry per request',
    ],
    [
      'lists, failures and requests without effect have no entry',
      WIRE_AUDIT,
      'Lists, failures and requests without effect are not recorded',
    ],
    [
      'denied requests are recorded with their source and reason',
      PERMISSIONS,
      '%s: denied requests are recorded with their actor and reason',
    ],
    [
      'equal denials of one source share an entry',
      DENIALS,
      'the first denial is recorded at once, and further ones together',
    ],
    ['a flood of denied requests adds few entries', DENIALS, 'a flood adds few entries, whose counts add up'],
    ['an entry is committed together with its change', OBJECTS, 'is written in the transaction of the change: %s'],
    [
      'even if the server is killed',
      KILLED,
      'the secrets service stores each acknowledged write with exactly one audit entry',
    ],
    ['an entry has the name that the client gave itself, and the actor', WIRE_AUDIT, ENTRIES],
    [
      'ip is the address of the peer, regardless of headers',
      VARIANTS,
      'An audit entry records the address of the peer regardless of headers, and the name that the client gave itself',
    ],
    ['entries remain after their secret is deleted, and name the variant', OBJECTS, RECORDED],
    ['entries are chained', AUDIT, 'appendAudit: chains each entry to the previous one'],
    ['a value cannot move to a different column unnoticed', AUDIT, 'hashEntry: depends on the column of each value'],
    ['several servers write one chain without gaps', WRITERS, CHAIN],
    ['verification detects changed, missing and added entries', AUDIT, 'verify: detects an entry %s'],
    ['verification accepts an intact chain', AUDIT, 'verify: returns the head of an intact log'],
    [
      'a saved head detects entries removed at the end',
      AUDIT,
      'detects entries that were removed together with the stored head',
    ],
    ['a saved head detects a chain that was computed again', AUDIT, 'detects a chain that was computed again'],
    ['the API verifies the log', WIRE_AUDIT, 'verifyAuditLog verifies the chain, also against an earlier verification'],
    [
      'concurrent reads each have their own response and entry',
      OBJECTS,
      'concurrent reads each return their own value or error',
    ],
    [
      'pages continue after an entry, in both orders, despite concurrent writes',
      WIRE_AUDIT,
      'queryAuditLog continues after an entry in both orders, despite concurrent writes',
    ],
    ['all filters must match', WIRE_AUDIT, 'queryAuditLog filters by %j'],
    ['the actor none matches entries without a credential', AUDIT, 'a missing credential'],
    ['the filter options are the distinct values of the log', AUDIT, OPTIONS],
    ['the command line, sessions, write tokens and consumer tokens are different actors', AUDIT, OPTIONS],
  ]),
  ...rulesAbout('tokens', [
    ['a token is shown once, and listed without its value', TOKENS, LIVES],
    ['the default lifetime is 90 days', TOKENS, LIVES],
    ['the limit is 365 days: 422 above, 400 for zero', TOKENS, 'is rejected with %j'],
    ['a requested lifetime is used', TOKENS, 'has the requested lifetime'],
    ['rotate keeps id and description, and invalidates the old value at once', TOKENS, ROTATED],
    [
      'rotate returns 404 for unknown, revoked and expired tokens, and for those of the other kind',
      TOKENS,
      'rotation returns 404 and revocation 204 if it %s',
    ],
    ['revoke can be repeated, and the token stays in the list', TOKENS, REVOKED],
    ['purge returns 409 for an active token, and 404 for an unknown one', TOKENS, REVOKED],
    [
      'revoked takes precedence over expired',
      TOKENS,
      'can be purged after it expired; revoked takes precedence over expired',
    ],
    ['last_used_at has a resolution of one minute', TOKENS, 'records its last use once a minute'],
    [
      'a consumer token is for any valid consumer name, existing or not',
      TOKENS,
      'createConsumerToken: returns 400 for the consumer %j',
    ],
    ['tokens are listed in pages', TOKENS, 'is listed in pages'],
  ]),
  ...rulesAbout('registration and sessions', [
    [
      'the setup link creates the owner',
      AUTH,
      'finishRegistration: creates the owner with the setup link, signs them in and stores their keys',
    ],
    ['only the setup link creates the owner', AUTH, 'beginRegistration: returns 403 %s'],
    [
      'once an owner exists, registration requires their session',
      AUTH,
      'Registration requires the session of the owner once an owner exists',
    ],
    ['an existing session is not replaced', AUTH, OWN_COPY],
    ['the owner signs in and out with the cookie of the dashboard', AUTH, 'The owner signs in and out'],
    ['other users cannot sign in here', AUTH, 'finishLogin: returns 401 for other users, and creates no session'],
    [
      'a challenge can be used once, and only for its own ceremony',
      AUTH,
      'A challenge can be used once, and only for its own ceremony',
    ],
    ['challenges expire', PASSKEYS, 'to an expired challenge is rejected'],
    [
      'a decreased signature counter is rejected',
      PASSKEYS,
      'with a decreased counter is rejected, as the passkey may be a copy',
    ],
    ['the last passkey cannot be removed', AUTH, OWNER_PASSKEYS],
  ]),
  ...rulesAbout('sealing and copies of the identity', [
    ['values are sent as base64 and returned byte for byte', WIRE, 'getObject returns the stored bytes'],
    ['values have at most 1 MiB', OBJECTS, 'of 1 MiB are returned byte for byte'],
    [
      'invalid base64, other files and files without recipients return 422, and nothing is stored',
      OBJECTS,
      'are rejected for %s, and nothing is stored',
    ],
    ['the header of an age file is read with and without armor', HEADER, 'are read with and without armor: %s'],
    ['invalid headers are rejected', HEADER, 'are rejected: %s'],
    ['the payload must be complete, although no one can decrypt it here', HEADER, 'are rejected: %s'],
    [
      'the memory of the server never contains a plain value',
      PLAIN,
      'has no plain value in memory in any encoding, while an unsealed one is found',
    ],
    [
      'the files and the log of the server never contain a plain value',
      PLAIN,
      'has no plain value in its database, files and log, while an unsealed one is found',
    ],
    ['the public key of the owner is never overwritten', IDENTITY, 'a different public key is rejected'],
    [
      'sessions and write tokens can read the identity, only sessions its recovery copy',
      AUTH,
      'getIdentity: returns the public key for a session or write token, and the recovery copy only for a session',
    ],
    ['each passkey can have its own copy of the identity', AUTH, OWN_COPY],
    [
      'agents cannot store a readable copy',
      MCP,
      'listTools: returns five tools, none of which can store a readable copy',
    ],
  ]),
  ...rulesAbout('limits and order of validation', [
    [
      'bodies have at most 1.5 MiB, with a declared length or chunked',
      WIRE,
      'createObject accepts bodies of up to 1.5 MiB, with or without Content-Length',
    ],
    [
      'a declared length above the limit is rejected before the body is read',
      ROUTER,
      'with a declared length above the limit are rejected with 413',
    ],
    ['limits of fields return 422 with the field', REFUSALS, '$id: returns 422 for a text above its length limit'],
    ['characters are counted, not bytes', CONSUMERS, 'are limited in characters, not bytes'],
    ['query texts above 128 characters and times above 64 return 422', VARIANTS, LISTED],
    ['numbers out of range and too many tags return 400', WIRE, 'listObjects: rejects ?%s'],
    ['X-Caller has at most 128 characters', VARIANTS, 'getObject %s'],
    ['errors of a body are checked in a fixed order, before the slug is looked up', WIRE, 'updateObject: %s'],
    ['pages have at most 500 entries, of consumers 100', VARIANTS, LISTED],
    [
      'every list returns its total and a link to the next page',
      WIRE,
      'listObjects returns the secrets that match all filters, in pages',
    ],
    [
      'the last of two fields with the same name is used',
      WIRE,
      'createObject uses the last of two fields with the same name',
    ],
    ['ambiguous message lengths are rejected', HOSTILE, 'a length and chunks'],
    ['headers have at most 64 KiB', 'tests/contract/hostile-requests.test.ts', 'headers that are too long'],
    ['requests above the rate limit return 429', REFUSALS, '$id: returns 429 above the rate limit'],
    [
      'credentials are no longer looked up after too many failures',
      LIMITS,
      'credentials of an address with too many failures are no longer looked up',
    ],
    [
      'a readiness result is reused for 3 seconds',
      READINESS,
      'reuses a result for three seconds, and then detects that the database is unavailable',
    ],
    ['readiness ends at once when the server stops', READINESS, 'ends at once when the server stops'],
    ['health and readiness need no credential', HEALTH, 'getHealth and getReadiness need no credential'],
    [
      'a repeated create returns the first response',
      WIRE,
      'createObject: repeats the first response for the same Idempotency-Key',
    ],
    [
      'a repeated creation of a token returns the first response',
      TOKENS,
      'is created once for repeated requests with one Idempotency-Key',
    ],
    [
      'the stored response is committed together with the change',
      REPLAYS,
      'stores both the change and its response, or neither',
    ],
    [
      'the stored response cannot be read without the key',
      REPLAYS,
      'stores neither the response nor the key in plain text',
    ],
    ['internal errors reveal no details', REFUSALS, '$id: returns 500 without details for an internal error'],
  ]),
  ...rulesAbout('consumers', [
    [
      'the consumers are those that secrets name and those that were added',
      CONSUMERS,
      'are those that were added and those that secrets name, without duplicates',
    ],
    [
      'the list returns names without parameters, and pages with one',
      CONSUMERS,
      'are listed as names without parameters, and as pages with one',
    ],
    [
      'q is a literal part of the name, regardless of case',
      CONSUMERS,
      'are found by a literal part of their name, regardless of case',
    ],
    ['a name can be added once', CONSUMERS, 'cannot be added twice'],
    ['a rename applies to all secrets and tokens', CONSUMERS, 'are renamed in all secrets and tokens'],
    [
      'a merge keeps the key of the target, or else of the source',
      CONSUMERS,
      'are merged when they are renamed to an existing name: %s',
    ],
    [
      'a key can be replaced but not removed, and adds the consumer',
      CONSUMERS,
      'can replace their public key, but not remove it',
    ],
    [
      'a write token cannot replace a key, not even of a name whose consumer was deleted or renamed',
      CONSUMERS,
      'keep their public key from a write token, also by %s',
    ],
    ['a rename is applied before a key', CONSUMERS, 'are renamed before their public key is set'],
    [
      'a deletion removes the consumer from all secrets and revokes its tokens',
      CONSUMERS,
      'are removed from all secrets when they are deleted, and their tokens are revoked',
    ],
    ['the rest of the path is the name, with its slashes', CONSUMERS, 'are accepted exactly as written: %s'],
    ['dot segments, NUL and invalid UTF-8 are rejected', CONSUMERS, 'are rejected for %s'],
    ['path segments are never resolved', CONSUMERS, 'do not resolve path segments: %s'],
    ['a public key must be usable by the clients', CONSUMERS, 'have no public key that clients cannot use: %s'],
  ]),
  ...rulesAbout('versions, rotation and resealing', [
    [
      'a replaced value becomes a version, with the authors of both values',
      VERSIONS,
      'a replaced value becomes a version, with the authors of both values',
    ],
    ['the last 10 versions are stored', VERSIONS, 'only the last 10 versions are stored'],
    [
      'restore makes a version the current value, and the replaced value a version',
      VERSIONS,
      'restore: makes a version the current value, and the replaced value a version',
    ],
    ['versions are deleted with their secret', VERSIONS, 'versions are deleted with their variant only'],
    [
      'only the owner can read a version, as long as it is one',
      WIRE_VERSIONS,
      'getObjectVersion returns previous values only',
    ],
    [
      'a secret is due a number of days after its current value was stored',
      OBJECTS,
      'a secret is due rotateAfterDays after its current value was stored',
    ],
    [
      'a due rotation is recorded once for each value',
      ROTATION,
      'a due rotation is recorded once, despite concurrent checks',
    ],
    ['recorded keys show missing and stale recipients', RESEAL, 'findReseal with recorded public keys'],
    ['without recorded keys, the number of recipients is compared', RESEAL, 'findReseal without recorded public keys'],
    [
      'at most as many keys are recorded as the header has',
      RESEAL,
      'create: records at most as many recipients as the age header has',
    ],
  ]),
  ...rulesAbout('agents', [
    [
      'the tools are inject, get, update, delete and list',
      MCP,
      'An agent stores, reads, replaces, finds and deletes a sealed value',
    ],
    [
      "MCP accepts the owner's session and write tokens",
      MCP,
      "MCP accepts the owner's session and rejects consumer tokens",
    ],
    [
      'there are no sessions and streams',
      MCP,
      'MCP: returns 405 for GET and DELETE, as there are no streams and sessions',
    ],
  ]),
];
