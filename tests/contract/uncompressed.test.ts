import { readFileSync } from 'node:fs';
import { UNCOMPRESSED_OPERATIONS } from '../../src/handlers/uncompressed.js';

type Json = Readonly<Record<string, unknown>>;

/** Fields that contain a secret at any place. */
const SECRET = /^(challenge|token|webhookToken|webhookSecret|wrapped_identity|recovery_wrapped_identity)$/;

/** Fields that contain a secret at the top of a body: a new token, and the URL of a feed. */
const SECRET_AT_TOP = /^(value|url)$/;

/** The rows of this list have the URLs of pull requests. */
const WITHOUT_SECRET = 'listReviewRows';

const readContract = (service: string): Json =>
  JSON.parse(readFileSync(new URL(`../../src/generated/${service}/openapi.json`, import.meta.url), 'utf8')) as Json;

const isMap = (value: unknown): value is Json => typeof value === 'object' && value !== null;

function follow(contract: Json, reference: string): unknown {
  const names = reference.slice(2).split('/');
  return names.reduce<unknown>((at, name) => (isMap(at) ? at[name.replaceAll('~1', '/')] : undefined), contract);
}

/** Lists the paths of all fields of a schema, such as `issues.url`. Visits each schema once, as some are recursive. */
function listFields(contract: Json, schema: unknown, parent = '', seen = new Set<unknown>()): string[] {
  if (!isMap(schema) || seen.has(schema)) return [];
  seen.add(schema);
  if (typeof schema.$ref === 'string') return listFields(contract, follow(contract, schema.$ref), parent, seen);
  const { properties, ...others } = schema;
  const own = Object.entries(isMap(properties) ? properties : {}).flatMap(([name, field]) => {
    return [parent + name, ...listFields(contract, field, `${parent}${name}.`, seen)];
  });
  return [
    ...own,
    ...Object.entries(others).flatMap(([key, part]) => {
      return key.startsWith('example') ? [] : listFields(contract, part, parent, seen);
    }),
  ];
}

function hasSecret(contract: Json, responses: Json): boolean {
  const good = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const fields = good.flatMap(([, response]) => listFields(contract, response));
  return fields.some((path) => SECRET.test(path.split('.').at(-1) ?? '') || SECRET_AT_TOP.test(path));
}

test.each(['dashboard', 'secrets'] as const)(
  'UNCOMPRESSED contains each operation of %s whose response contains a secret',
  (service) => {
    const contract = readContract(service);
    const operations = Object.values(contract.paths as Json).flatMap((path) => Object.values(path as Json));
    const found = operations.flatMap((operation) => {
      const { operationId, responses } = operation as { operationId?: string; responses?: Json };
      if (operationId === undefined || operationId === WITHOUT_SECRET || !responses) return [];
      return hasSecret(contract, responses) ? [operationId] : [];
    });
    const listed = UNCOMPRESSED_OPERATIONS[service].filter((id) => id !== 'callMcp');
    expect(found.toSorted()).toEqual(listed.toSorted());
  },
);

test('UNCOMPRESSED contains callMcp, whose results have no schema', () => {
  expect(UNCOMPRESSED_OPERATIONS.secrets).toContain('callMcp');
});
