/**
 * The rules of the secrets service (`docs/secrets.md`, `openapi/secrets.yaml`), and the test of each. What the
 * generated client and the contract hold by themselves, such as every documented answer, is not listed again.
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

const VARIANT = 'createObject makes a variant on a name that is taken, unless it leaves no room';
const ONE_OF_SEVERAL = '%s takes an id where several share the name, and only one of them';
const OPERATION_IS_FOR = '%s is for: %s';
const ENTRIES = 'everything that changes who may read what is an entry, with who did it and what they say they are';
const REVOKED = 'is revoked, and stays in the list until it is purged';
const ROTATED = 'is rotated: the old secret is dead at once, the rest stays';
const LIVES = 'is shown once, holds for 90 days, and is listed without its secret';
const OWNER_PASSKEYS = 'are listed a page at a time, renamed and removed, but for the last';
const LISTED = 'a list is asked for no more than it gives: %s';
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
      'getObject gives a consumer its variant, and nothing else',
    ],
    [
      'an update that would share a consumer is 409 and changes nothing',
      WIRE,
      'updateObject is refused a consumer of another variant, and changes nothing',
    ],
    ['so is a rename or a merge of consumers', CONSUMERS, 'stay two when they are in different variants of a name'],
    ['a consumer may go from one variant to the other', OBJECTS, 'may go from one variant to the other'],
    ['the list shows each variant', VARIANTS, 'listObjects shows each variant of a name, the older first'],
    [
      'updated_at moves with the value alone, and is created_at before',
      OBJECTS,
      'updated_at moves with the value alone',
    ],
    ['the description stays as it was created', OBJECTS, 'the description stays as it was created'],
    ['rename keeps id, value, tags, consumers and times', WIRE, 'renameObject keeps everything but the name'],
    [
      'rename is 409 beside a variant that shares a consumer, or when either has none',
      WIRE,
      'renameObject is refused where the new name leaves no room',
    ],
    [
      'rename keeps the old name in its entry',
      OBJECTS,
      'has one entry for each change and each read, and none for what was refused',
    ],
    ['deleting takes one variant', WIRE, 'deleteObject takes one variant away'],
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
      'createObject answers metadata without times, and the list has them',
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
    ['a consumer that is named twice is recorded once', WIRE, 'getObjectUsedBy answers each consumer once'],
    [
      'keep_readable_copy is told again and not kept',
      WIRE,
      'createObject answers metadata without times, and the list has them',
    ],
  ]),
  ...of('who may do what', [
    ['each operation takes the credentials of its line, and no other', PERMISSIONS, OPERATION_IS_FOR],
    ['every operation has a line', PERMISSIONS, 'every operation is in the table'],
    ['a session does what a write token does, and more', PERMISSIONS, OPERATION_IS_FOR],
    [
      'a write token makes and manages consumer tokens',
      TOKENS,
      'a write token looks after consumer tokens, and says so as their issuer',
    ],
    ['a write token never makes a write token', REFUSALS, '$id is refused to a write token'],
    [
      'the first write token comes from the machine',
      MACHINE,
      'makes tokens of the secrets, which are audited, and ends them',
    ],
    ['a consumer token is 401 anywhere but at the value', REFUSALS, '$id is refused to a consumer token'],
    [
      "another consumer's object is the 404 of an unknown name",
      WIRE,
      'getObject gives a consumer its variant, and nothing else',
    ],
    [
      'by the same work',
      MASKED,
      'a consumer is refused by the same statements, without a row, whether or not somebody has the name',
    ],
    ['whatever exposes stored data needs a credential', REFUSALS, '$id is refused without a credential'],
    ['unknown, expired, revoked and rotated tokens are alike', PERMISSIONS, OPERATION_IS_FOR],
    ['only the owner is accepted', REFUSALS, '$id is refused to anybody but the owner'],
    ['a token of the dashboard opens nothing here', REFUSALS, '$id is refused to a token of the dashboard'],
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
      '$id is refused when another site sends it with the cookie',
    ],
  ]),
  ...of('the audit log', [
    [
      'each create, read, update, rename, delete and restore of an object is one entry',
      OBJECTS,
      'has one entry for each change and each read, and none for what was refused',
    ],
    ['so is each change to consumers and tokens', WIRE_AUDIT, ENTRIES],
    ['so is each change to passkeys, whichever service made it', AUTH, 'that the dashboard changes are audited too'],
    [
      'so is the owner’s public key',
      IDENTITY,
      'the first public key, the first phrase and every passkey keep theirs, told in one entry each time',
    ],
    [
      'what is listed, fails, or changes nothing is none',
      WIRE_AUDIT,
      'what changes nothing, fails, or only lists is none',
    ],
    ['entry and change are there together or not at all', OBJECTS, 'and the change are both there or neither is: %s'],
    ['also when the server is killed', KILLED, 'it has made each acknowledged one, with its one audit entry'],
    ['caller is what a client says of itself, beside the actor', WIRE_AUDIT, ENTRIES],
    [
      'ip is the peer’s, whatever headers say',
      VARIANTS,
      'an entry tells the peer, whatever a header says of it, and what the client calls itself',
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
    ['verification over the wire', WIRE_AUDIT, 'is verified, also against an answer that was kept'],
    [
      'reads at once are each answered and told by themselves',
      OBJECTS,
      'reads at the same time are each answered with their own, refusals included',
    ],
    [
      'paging goes behind an entry, in either order, while others write',
      WIRE_AUDIT,
      'is read on behind an entry, in either order, while others write',
    ],
    ['filters must all hold', WIRE_AUDIT, 'is found by %j'],
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
    ['365 days at most: 422 above, 400 for nothing', TOKENS, 'is refused with %j'],
    ['the lifetime is what was asked for', TOKENS, 'lives as long as it is asked to'],
    ['rotate: same id and description, new secret, the old one dead at once', TOKENS, ROTATED],
    [
      'rotate: 404 for unknown, revoked, expired and of the other kind',
      TOKENS,
      'is not rotated, and not missed when it is revoked, when it %s',
    ],
    ['revoke: repeated without harm, and kept in the list', TOKENS, REVOKED],
    ['purge: only what is dead, else 409; 404 for unknown', TOKENS, REVOKED],
    ['revoked wins over expired', TOKENS, 'expires, and is purged then; revoked wins over expired'],
    ['last_used_at, to the minute', TOKENS, 'says when it was used, once a minute'],
    [
      'a consumer token is for a name that can be one, known or not',
      TOKENS,
      'a consumer token is refused for the name %j',
    ],
    ['lists page', TOKENS, 'is listed a page at a time'],
  ]),
  ...of('ceremonies and sessions', [
    ['the setup link makes the owner', AUTH, 'the setup link makes the owner, who is signed in with their keys kept'],
    ['nobody else does', AUTH, 'nobody becomes the owner %s'],
    [
      'once there is an owner, registering needs their session',
      AUTH,
      'once there is an owner, nobody registers without their session',
    ],
    [
      'whoever has a session gets no other',
      AUTH,
      'another passkey of the owner gets no other session, and its own copy of the identity',
    ],
    ['the owner signs in and out, with the cookie of the dashboard', AUTH, 'the owner signs in and out'],
    ['nobody else signs in here', AUTH, 'nobody else signs in here, and gets no session for trying'],
    [
      'a challenge is used once, and for its own ceremony',
      AUTH,
      'a challenge is answered once, and for its own ceremony',
    ],
    ['a ceremony ends with time', PASSKEYS, 'too late is refused'],
    [
      'a signature counter that went back is refused',
      PASSKEYS,
      'with a counter that went back is refused: the passkey was copied',
    ],
    ['the last passkey stays', AUTH, OWNER_PASSKEYS],
  ]),
  ...of('sealing and escrow', [
    ['values go in as base64 and come back byte for byte', WIRE, 'getObject answers the bytes that were stored'],
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
    ['the owner’s public key is never overwritten', IDENTITY, 'another public key is refused'],
    [
      'the identity is for a session and a write token, its recovery copy for a session',
      AUTH,
      'the identity is there for a session and a write token, and the recovery copy for a session alone',
    ],
    [
      'each passkey may hold a copy of its own',
      AUTH,
      'another passkey of the owner gets no other session, and its own copy of the identity',
    ],
    [
      'agents are not offered a readable copy',
      MCP,
      'an agent is offered five tools, none of which keeps a readable copy',
    ],
  ]),
  ...of('limits and order', [
    [
      'bodies of 1.5 MiB and not a byte more, declared or chunked',
      WIRE,
      'createObject reads bodies of 1.5 MiB and not a byte more, however they come',
    ],
    [
      'a declared length beyond is refused unread',
      ROUTER,
      'with a declared length above the limit are rejected with 413',
    ],
    ['limits of fields are 422 and name the field', REFUSALS, '$id is refused what is beyond a limit'],
    ['characters are counted, not bytes', CONSUMERS, 'count characters, not bytes'],
    ['query texts of 128 characters and times of 64 at most, else 422', VARIANTS, LISTED],
    ['numbers that do not fit, and too many tags, are 400', WIRE, 'listObjects is refused for ?%s'],
    ['X-Caller of 128 characters at most', VARIANTS, 'getObject answers %s'],
    ['what is wrong with a body is told in one order, before the name is looked up', WIRE, 'updateObject: %s'],
    ['pages of 500 at most, of consumers 100', VARIANTS, LISTED],
    [
      'every list tells its total and the next page',
      WIRE,
      'listObjects answers what every filter lets through, page by page',
    ],
    [
      'of two fields with one name the last counts',
      WIRE,
      'createObject takes the last of two fields with one name, and looks at no other',
    ],
    ['what could be read as two requests is refused', HOSTILE, 'a length and chunks'],
    ['headers of 64 KiB at most', 'contract/hostile-requests.test.ts', 'headers that never end'],
    ['requests past the budget are 429', REFUSALS, '$id is refused past the budget'],
    [
      'credentials that fail too often are not looked up any more',
      LIMITS,
      'credentials of an address with too many failures are no longer looked up',
    ],
    [
      'an answer about readiness is used for 3 s',
      READINESS,
      'reuses a result for three seconds, and then detects that the database is unavailable',
    ],
    ['told to stop, a server is not ready at once', READINESS, 'ends at once when the server stops'],
    ['health and readiness answer anybody', HEALTH, 'getHealth and getReadiness answer anybody'],
    [
      'a repeated create is answered like the first',
      WIRE,
      'createObject answers a repeat under the same key like the first',
    ],
    ['so is a repeated token', TOKENS, 'is made once however often the request is repeated'],
    [
      'the kept answer is in the transaction of the change',
      REPLAYS,
      'stores both the change and its response, or neither',
    ],
    ['and is not readable without the key', REPLAYS, 'stores neither the response nor the key in plain text'],
    ['a defect of ours tells nothing', REFUSALS, '$id hides a defect of ours'],
  ]),
  ...of('consumers', [
    [
      'the directory is what objects name and what was added',
      CONSUMERS,
      'are those that were added and those that objects name, each once',
    ],
    [
      'names alone without a parameter, pages with one',
      CONSUMERS,
      'are plain names without a parameter, and pages with one',
    ],
    [
      'q is part of the name, in either case and literally',
      CONSUMERS,
      'are found by part of their name, in either case and literally',
    ],
    ['a name is added once', CONSUMERS, 'are added once'],
    [
      'rename rewrites every object, and tokens come along',
      CONSUMERS,
      'are renamed everywhere, and their tokens with them',
    ],
    ['a merge keeps the target’s key, else the source’s', CONSUMERS, 'become one when a name is taken: %s'],
    ['a key is replaced, never cleared, and makes the entry', CONSUMERS, 'get another key, and never lose one'],
    ['with both, the rename comes first', CONSUMERS, 'are renamed before they get a key'],
    [
      'delete takes the name out everywhere and revokes its tokens',
      CONSUMERS,
      'are deleted out of every object, and their tokens revoked',
    ],
    ['the rest of the path is the name, its slashes kept', CONSUMERS, 'are one name as they stand: %s'],
    ['dots, NUL, bytes that are no text and the like make none', CONSUMERS, 'are never made of %s'],
    ['no path leads elsewhere', CONSUMERS, 'are no way to elsewhere: %s'],
    ['a key is one that values can be sealed to', CONSUMERS, 'have no key that nothing can be sealed to: %s'],
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
      'getObjectVersion answers a value that was replaced, and only that',
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
    ['inject, get, update, delete and list', MCP, 'an agent stores, reads, replaces, finds and deletes a sealed value'],
    [
      'for the owner and their write tokens',
      MCP,
      'the owner may speak it with a session, and a consumer token may not',
    ],
    ['without sessions and streams', MCP, 'there are no streams and no sessions'],
  ]),
];
