import { createHash } from 'node:crypto';
import { toStringLiteral } from '../output.js';
import type { Contract, ContractDocument } from './contract.js';
import { isRecord } from './nodes.js';

/**
 * Returns an identifier of the contract's rules for requests and responses. Clients warn of a different revision,
 * so layout, order, names of operations, tags and all texts for readers do not change it.
 */
export function toContractRevision(document: ContractDocument): string {
  // 16 hexadecimal digits suffice to distinguish the revisions of one contract.
  return createHash('sha256')
    .update(JSON.stringify(toWireRules(document)))
    .digest('hex')
    .slice(0, 16);
}

/** Writes `revision.ts`, the only file with the revision: branches that change the contract conflict nowhere else. */
export const writeRevision = ({ revision }: Pick<Contract, 'revision'>): string => `
/** Identifies the contract. The server sends it to clients, which compare it with their own. */
export const revision = ${toStringLiteral(revision)};
`;

/** The members that say nothing about requests and responses. */
const NOT_ON_THE_WIRE = new Set([
  'deprecated',
  'description',
  'example',
  'examples',
  'externalDocs',
  'info',
  'openapi',
  'operationId',
  'summary',
  'tags',
  'title',
]);

/** The extensions that change requests or responses. */
const WIRE_EXTENSIONS = new Set(['x-event', 'x-max-bytes', 'x-rest']);

/** The members whose own members have names that the contract chooses, such as a property `title`. */
export const NAME_MAPS: readonly string[] = [
  '$defs',
  'callbacks',
  'content',
  'dependentSchemas',
  'encoding',
  'headers',
  'links',
  'parameters',
  'pathItems',
  'paths',
  'patternProperties',
  'properties',
  'requestBodies',
  'responses',
  'schemas',
  'securitySchemes',
  'webhooks',
];

/** The members that hold values instead of rules. */
const VALUES = new Set(['const', 'default', 'enum']);

/** Returns a value of a document with the members that change requests or responses, sorted by name. */
export function toWireRules(value: unknown, isNameMap = false): unknown {
  if (Array.isArray(value)) return value.map((item) => toWireRules(item));
  if (!isRecord(value)) return value;
  const members = Object.entries(value).filter(([key]) => isNameMap || isOnTheWire(key));
  return Object.fromEntries(
    members
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [
        key,
        !isNameMap && VALUES.has(key) ? member : toWireRules(member, !isNameMap && NAME_MAPS.includes(key)),
      ]),
  );
}

const isOnTheWire = (key: string): boolean =>
  key.startsWith('x-') ? WIRE_EXTENSIONS.has(key) : !NOT_ON_THE_WIRE.has(key);
