/**
 * The rules of the secrets service (`docs/secrets.md`, `openapi/secrets.yaml`), and the test of each. What the generated
 * client and the contract hold by themselves, such as every documented answer, is not listed again.
 */
export interface Rule {
  readonly about: string;
  readonly rule: string;
  /** Below `tests`. */
  readonly file: string;
  readonly test: string;
}

type Row = readonly [rule: string, file: string, test: string];

const of = (about: string, rows: readonly Row[]): Rule[] =>
  rows.map(([rule, file, test]) => ({ about, rule, file, test }));

const OBJECTS = 'secrets/objects.test.ts';
const VERSIONS = 'secrets/versions.test.ts';
const ROTATION = 'secrets/rotation.test.ts';
const RESEAL = 'secrets/reseal.test.ts';
const AUDIT = 'secrets/audit.test.ts';
const WRITERS = 'secrets/audit-writers.test.ts';
const VERIFY = 'secrets/verify-audit.test.ts';
const HEADER = 'secrets/age-header.test.ts';
const MASKED = 'secrets/masked.test.ts';
const WIRE = 'contract/secrets/objects.ts';
const VARIANTS = 'contract/secrets/variants.ts';
const WIRE_VERSIONS = 'contract/secrets/versions.ts';
const CONSUMERS = 'contract/secrets/consumers.ts';
const TOKENS = 'contract/secrets/tokens.ts';
const WIRE_AUDIT = 'contract/secrets/audit.ts';
const AUTH = 'contract/secrets/auth.ts';
const IDENTITY = 'contract/secrets/identity.ts';
const PERMISSIONS = 'contract/secrets/permissions.ts';
const REFUSALS = 'contract/secrets/refusals.ts';
const HEALTH = 'contract/secrets/health.ts';
const HOSTILE = 'contract/secrets-hostile.test.ts';
const KILLED = 'contract/secrets-killed.test.ts';
const MCP = 'contract/secrets-mcp.test.ts';
const REPLAYS = 'storage/replays.test.ts';
const READINESS = 'storage/readiness.test.ts';
const ROUTER = 'server/contract-router.test.ts';
const LIMITS = 'server/limits.test.ts';
const PASSKEYS = 'accounts/security-passkeys.test.ts';
const MACHINE = 'commands/tokens.test.ts';
const PLAIN = 'commands/secrets/never-plain.test.ts';

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
const CHAIN = "eight writers at once are in nobody's way, and number their entries without gaps: %s";

export const RULES: readonly Rule[] = [
  ...of('names, ids and variants', [
    ['objects that share a name are variants, each with an id, a value and consumers of its own', WIRE, VARIANT],
    [
      'within a name a consumer belongs to one variant, looked at in the transaction',
      OBJECTS,
      'belong to one variant, however many ask at once',
    ],
    ['a new object of a taken name needs consumers, none of them in another variant', WIRE, VARIANT],
    ['one variant is found without an id, of several one is not', VARIANTS, ONE_OF_SEVERAL],
    ['an id that is none is 400', VARIANTS, ONE_OF_SEVERAL],
    ['an id of another name, or of nothing, is 404', VARIANTS, ONE_OF_SEVERAL],
    [
      'a consumer token reads the variant that names its consumer, and no other',
      WIRE,
      'getObject returns only the variant of its consumer for a consumer token',
    ],
    [
      'an update that would share a consumer is 409 and changes nothing',
      WIRE,
      'updateObject: returns 409 for a consumer of a different variant, and changes nothing',
    ],
    [
      'so is a rename or a merge of consumers',
      CONSUMERS,
      'are not merged when they belong to different variants of a slug',
    ],
    ['a consumer may go from one variant to the other', OBJECTS, 'may go from one variant to the other'],
    ['the list shows each variant', VARIANTS, 'listObjects returns each variant of a slug, oldest first'],
    [
      'updated_at moves with the value alone, and is created_at before',
      OBJECTS,
      'updated_at moves with the value alone',
    ],
    ['the description stays as it was created', OBJECTS, 'the description stays as it was created'],
    ['rename keeps id, value, tags, consumers and times', WIRE, 'renameObject changes nothing except the slug'],
    [
      'rename is 409 beside a variant that shares a consumer, or when either has none',
      WIRE,
      'renameObject: returns 409 for a shared or missing consumer under the new slug',
    ],
    [
      'rename keeps the old name in its entry',
      OBJECTS,
      'has one entry for each change and each read, and none for what was refused',
    ],
    ['deleting takes one variant', WIRE, 'deleteObject deletes one variant'],
    [
      'there are 100,000 objects at most, of one name or of many',
      OBJECTS,
      'of one name there may be a hundred thousand variants, and no more objects than that',
    ],
  ]),
  ...of('metadata', [
    [
      'times and actors are told by the list alone; tags always',
      WIRE,
      'createObject returns metadata without times, and listObjects includes them',
    ],
    ['a slug is letters of either case, digits, _ and -, a letter or digit first', OBJECTS, 'may have %s'],
    [
      'create and rename share the rule; letters that look alike are refused',
      OBJECTS,
      'may not have %s, nor be changed to',
    ],
    ['names are told apart by their case', OBJECTS, 'that differ in case alone are two'],
    ['tags are lowered, each once, ten at most, 32 characters each', OBJECTS, 'are lowered, each once, in order'],
    ['a tag that is none is refused, look-alikes too', OBJECTS, 'the Kelvin sign, whose lower case is a k'],
    [
      'objects are listed by all tags that are given, in either case',
      OBJECTS,
      'are looked for in either case, all at once',
    ],
    [
      'used_by is replaced when it is told, and stays when it is not',
      OBJECTS,
      'are replaced when they are told, and stay when they are not',
    ],
    ['a consumer that is named twice is recorded once', WIRE, 'getObjectUsedBy returns the consumers of the variant'],
    [
      'keep_readable_copy is told again and not kept',
      WIRE,
      'createObject returns metadata without times, and listObjects includes them',
    ],
  ]),
  ...of('who may do what', [
    ['each operation takes the credentials of its line, and no other', PERMISSIONS, OPERATION_IS_FOR],
    ['every operation has a line', PERMISSIONS, 'The table contains every operation'],
    ['a session does what a write token does, and more', PERMISSIONS, OPERATION_IS_FOR],
    [
      'a write token makes and manages consumer tokens',
      TOKENS,
      'A write token can manage consumer tokens, and is recorded as the actor',
    ],
    ['a write token never makes a write token', REFUSALS, '$id: returns 403 for a write token'],
    [
      'the first write token comes from the machine',
      MACHINE,
      'makes tokens of the secrets, which are audited, and ends them',
    ],
    ['a consumer token is 401 anywhere but at the value', REFUSALS, '$id: returns 401 for a consumer token'],
    [
      "another consumer's object is the 404 of an unknown name",
      WIRE,
      'getObject returns only the variant of its consumer for a consumer token',
    ],
    [
      'by the same work',
      MASKED,
      'a consumer is refused by the same statements, without a row, whether or not somebody has the name',
    ],
    ['whatever exposes stored data needs a credential', REFUSALS, '$id: returns 401 without a credential'],
    ['unknown, expired, revoked and rotated tokens are alike', PERMISSIONS, OPERATION_IS_FOR],
    ['only the owner is accepted', REFUSALS, '$id: returns 403 for users other than the owner'],
    ['a token of the dashboard opens nothing here', REFUSALS, '$id: returns 401 for an API token of the dashboard'],
    ['the audit log, its options and used-by need the owner', PERMISSIONS, OPERATION_IS_FOR],
    ['the audit log is the owner’s in the domain too', AUDIT, 'is closed to %s'],
    ['permission is looked at before existence', OBJECTS, 'must own the secrets, before anything is looked at: %s'],
    [
      'an Authorization header is judged alone, whatever cookie comes with it',
      HOSTILE,
      'a bad token beside the cookie of the owner',
    ],
    ['two credentials are refused', HOSTILE, 'two credentials'],
    [
      'a cookie from another site changes nothing',
      REFUSALS,
      '$id: returns 403 for a cross-site request with the cookie',
    ],
  ]),
  ...of('the audit log', [
    [
      'each create, read, update, rename, delete and restore of an object is one entry',
      OBJECTS,
      'has one entry for each change and each read, and none for what was refused',
    ],
    ['so is each change to consumers and tokens', WIRE_AUDIT, ENTRIES],
    [
      'so is each change to passkeys, whichever service made it',
      AUTH,
      'changed by the dashboard are recorded in the audit log too',
    ],
    [
      'so is the owner’s public key',
      IDENTITY,
      'keepIdentity stores the first public key, the first recovery copy and a copy for each passkey, with one audit entry per request',
    ],
    [
      'what is listed, fails, or changes nothing is none',
      WIRE_AUDIT,
      'Lists, failures and requests without effect are not recorded',
    ],
    ['entry and change are there together or not at all', OBJECTS, 'and the change are both there or neither is: %s'],
    [
      'also when the server is killed',
      KILLED,
      'the secrets service stores each acknowledged write with exactly one audit entry',
    ],
    ['caller is what a client says of itself, beside the actor', WIRE_AUDIT, ENTRIES],
    [
      'ip is the peer’s, whatever headers say',
      VARIANTS,
      'An audit entry records the address of the peer regardless of headers, and the name that the client gave itself',
    ],
    [
      'entries outlive what they speak of, and name the variant',
      OBJECTS,
      'has one entry for each change and each read, and none for what was refused',
    ],
    ['entries are chained', AUDIT, 'chains each entry to the one before'],
    [
      'values do not pass from one column to another',
      AUDIT,
      'gives another hash to an entry whose values moved between columns',
    ],
    ['writers of several servers keep one chain without gaps', WRITERS, CHAIN],
    ['an altered, missing or added entry is found', VERIFY, 'an entry is found that was %s'],
    ['a chain that nobody touched holds', VERIFY, 'a chain that nobody touched holds, and tells its end'],
    [
      'entries off the end are found by a head that was kept',
      VERIFY,
      "tells of entries taken off the end together with the log's own head",
    ],
    ['so is a chain that was made anew', VERIFY, 'tells of a chain that was made anew'],
    [
      'verification over the wire',
      WIRE_AUDIT,
      'verifyAuditLog verifies the chain, also against an earlier verification',
    ],
    [
      'reads at once are each answered and told by themselves',
      OBJECTS,
      'reads at the same time are each answered with their own, refusals included',
    ],
    [
      'paging goes behind an entry, in either order, while others write',
      WIRE_AUDIT,
      'queryAuditLog continues after an entry in both orders, despite concurrent writes',
    ],
    ['filters must all hold', WIRE_AUDIT, 'queryAuditLog filters by %j'],
    ['none stands for no credential', 'secrets/audit-filters.test.ts', 'requests without a credential'],
    ['the options are what was written, each once', VERIFY, 'what was written is offered to filter by, each once'],
    [
      'machine, session, token and consumer token are told apart',
      VERIFY,
      'what was written is offered to filter by, each once',
    ],
  ]),
  ...of('tokens', [
    ['shown once, listed without the secret', TOKENS, LIVES],
    ['90 days unless told', TOKENS, LIVES],
    ['365 days at most: 422 above, 400 for nothing', TOKENS, 'is rejected with %j'],
    ['the lifetime is what was asked for', TOKENS, 'has the requested lifetime'],
    ['rotate: same id and description, new secret, the old one dead at once', TOKENS, ROTATED],
    [
      'rotate: 404 for unknown, revoked, expired and of the other kind',
      TOKENS,
      'rotation returns 404 and revocation 204 if it %s',
    ],
    ['revoke: repeated without harm, and kept in the list', TOKENS, REVOKED],
    ['purge: only what is dead, else 409; 404 for unknown', TOKENS, REVOKED],
    ['revoked wins over expired', TOKENS, 'can be purged after it expired; revoked takes precedence over expired'],
    ['last_used_at, to the minute', TOKENS, 'records its last use once a minute'],
    [
      'a consumer token is for a name that can be one, known or not',
      TOKENS,
      'createConsumerToken: returns 400 for the consumer %j',
    ],
    ['lists page', TOKENS, 'is listed in pages'],
  ]),
  ...of('ceremonies and sessions', [
    [
      'the setup link makes the owner',
      AUTH,
      'finishRegistration: creates the owner with the setup link, signs them in and stores their keys',
    ],
    ['nobody else does', AUTH, 'beginRegistration: returns 403 %s'],
    [
      'once there is an owner, registering needs their session',
      AUTH,
      'Registration requires the session of the owner once an owner exists',
    ],
    [
      'whoever has a session gets no other',
      AUTH,
      'An additional passkey of the owner gets its own copy of the identity, and no new session',
    ],
    ['the owner signs in and out, with the cookie of the dashboard', AUTH, 'The owner signs in and out'],
    ['nobody else signs in here', AUTH, 'finishLogin: returns 401 for other users, and creates no session'],
    [
      'a challenge is used once, and for its own ceremony',
      AUTH,
      'A challenge can be used once, and only for its own ceremony',
    ],
    ['a ceremony ends with time', PASSKEYS, 'to an expired challenge is rejected'],
    [
      'a signature counter that went back is refused',
      PASSKEYS,
      'with a decreased counter is rejected, as the passkey may be a copy',
    ],
    ['the last passkey stays', AUTH, OWNER_PASSKEYS],
  ]),
  ...of('sealing and escrow', [
    ['values go in as base64 and come back byte for byte', WIRE, 'getObject returns the stored bytes'],
    ['up to 1 MiB', OBJECTS, 'of 1 MiB are given back byte for byte'],
    [
      'no base64, no age file, no recipient: 422, and nothing is stored',
      OBJECTS,
      'are refused with %s, and nothing is stored',
    ],
    ['the header of an age file is read, armored or not', HEADER, 'is read, armored too: %s'],
    ['what is none is refused', HEADER, 'is refused: %s'],
    ['nothing behind the header is looked at', HEADER, 'is looked at no further than the header goes'],
    [
      'the server never holds a value: memory',
      PLAIN,
      'its memory holds none of them, in no form, where a careless one is found',
    ],
    [
      'the server never holds a value: files and log',
      PLAIN,
      'its database, files and log hold none of them, where a careless one is found',
    ],
    ['the owner’s public key is never overwritten', IDENTITY, 'a different public key is rejected'],
    [
      'the identity is for a session and a write token, its recovery copy for a session',
      AUTH,
      'getIdentity: returns the public key for a session or write token, and the recovery copy only for a session',
    ],
    [
      'each passkey may hold a copy of its own',
      AUTH,
      'An additional passkey of the owner gets its own copy of the identity, and no new session',
    ],
    [
      'agents are not offered a readable copy',
      MCP,
      'listTools: returns five tools, none of which can store a readable copy',
    ],
  ]),
  ...of('limits and order', [
    [
      'bodies of 1.5 MiB and not a byte more, declared or chunked',
      WIRE,
      'createObject accepts bodies of up to 1.5 MiB, with or without Content-Length',
    ],
    ['a declared length beyond is refused unread', ROUTER, 'of a declared length beyond the limit are 413'],
    ['limits of fields are 422 and name the field', REFUSALS, '$id: returns 422 for a text above its length limit'],
    ['characters are counted, not bytes', CONSUMERS, 'are limited in characters, not bytes'],
    ['query texts of 128 characters and times of 64 at most, else 422', VARIANTS, LISTED],
    ['numbers that do not fit, and too many tags, are 400', WIRE, 'listObjects: rejects ?%s'],
    ['X-Caller of 128 characters at most', VARIANTS, 'getObject %s'],
    ['what is wrong with a body is told in one order, before the name is looked up', WIRE, 'updateObject: %s'],
    ['pages of 500 at most, of consumers 100', VARIANTS, LISTED],
    [
      'every list tells its total and the next page',
      WIRE,
      'listObjects returns the secrets that match all filters, in pages',
    ],
    [
      'of two fields with one name the last counts',
      WIRE,
      'createObject uses the last of two fields with the same name',
    ],
    ['what could be read as two requests is refused', HOSTILE, 'a length and chunks'],
    ['headers of 64 KiB at most', 'contract/hostile-requests.test.ts', 'headers that are too long'],
    ['requests past the budget are 429', REFUSALS, '$id: returns 429 above the rate limit'],
    [
      'credentials that fail too often are not looked up any more',
      LIMITS,
      'an address whose credentials fail too often is not looked up any more',
    ],
    [
      'an answer about readiness is used for 3 s',
      READINESS,
      'reuses an answer for three seconds, and then sees that the database is gone',
    ],
    ['told to stop, a server is not ready at once', READINESS, 'is over at once when the server is told to stop'],
    ['health and readiness answer anybody', HEALTH, 'getHealth and getReadiness need no credential'],
    [
      'a repeated create is answered like the first',
      WIRE,
      'createObject: repeats the first response for the same Idempotency-Key',
    ],
    ['so is a repeated token', TOKENS, 'is created once for repeated requests with one Idempotency-Key'],
    ['the kept answer is in the transaction of the change', REPLAYS, 'keeps the change and its answer, or neither'],
    ['and is not readable without the key', REPLAYS, 'stores neither the answer nor the key in the clear'],
    ['a defect of ours tells nothing', REFUSALS, '$id: returns 500 without details for an internal error'],
  ]),
  ...of('consumers', [
    [
      'the directory is what objects name and what was added',
      CONSUMERS,
      'are those that were added and those that secrets name, without duplicates',
    ],
    [
      'names alone without a parameter, pages with one',
      CONSUMERS,
      'are listed as names without parameters, and as pages with one',
    ],
    [
      'q is part of the name, in either case and literally',
      CONSUMERS,
      'are found by a literal part of their name, regardless of case',
    ],
    ['a name is added once', CONSUMERS, 'cannot be added twice'],
    ['rename rewrites every object, and tokens come along', CONSUMERS, 'are renamed in all secrets and tokens'],
    [
      'a merge keeps the target’s key, else the source’s',
      CONSUMERS,
      'are merged when they are renamed to an existing name: %s',
    ],
    [
      'a key is replaced, never cleared, and makes the entry',
      CONSUMERS,
      'can replace their public key, but not remove it',
    ],
    ['with both, the rename comes first', CONSUMERS, 'are renamed before their public key is set'],
    [
      'delete takes the name out everywhere and revokes its tokens',
      CONSUMERS,
      'are removed from all secrets when they are deleted, and their tokens are revoked',
    ],
    ['the rest of the path is the name, its slashes kept', CONSUMERS, 'are accepted exactly as written: %s'],
    ['dots, NUL, bytes that are no text and the like make none', CONSUMERS, 'are rejected for %s'],
    ['no path leads elsewhere', CONSUMERS, 'do not resolve path segments: %s'],
    ['a key is one that values can be sealed to', CONSUMERS, 'have no public key that age cannot use: %s'],
  ]),
  ...of('versions, rotation and resealing', [
    [
      'a value that is replaced is kept, with who brought and who replaced it',
      VERSIONS,
      'a value that is replaced is kept, with who brought it and who replaced it',
    ],
    ['the last 10', VERSIONS, 'the last 10 are kept, and the older ones are gone'],
    [
      'restore makes one the present value, and keeps the one before',
      VERSIONS,
      'a value that is restored is the present one, and the one before is kept',
    ],
    ['versions go with their object', VERSIONS, 'versions go with their variant alone'],
    [
      'a version is read by the owner, and only while it is one',
      WIRE_VERSIONS,
      'getObjectVersion returns previous values only',
    ],
    [
      'an object is due so many days after its value came',
      OBJECTS,
      'an object is due so many days after its value came',
    ],
    ['which is told once for a value', ROTATION, 'a value that is due is told once, whoever looks'],
    ['recorded keys tell who is missing and what is stale', RESEAL, 'by the recorded public keys'],
    ['their number tells where none are recorded', RESEAL, 'by their number, where no keys are recorded'],
    ['no more keys are recorded than the header has', RESEAL, 'no more recipients are recorded than the value has'],
  ]),
  ...of('agents', [
    ['inject, get, update, delete and list', MCP, 'An agent stores, reads, replaces, finds and deletes a sealed value'],
    ['for the owner and their write tokens', MCP, "MCP accepts the owner's session and rejects consumer tokens"],
    ['without sessions and streams', MCP, 'MCP: returns 405 for GET and DELETE, as there are no streams and sessions'],
  ]),
];
