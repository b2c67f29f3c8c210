import standalone from 'ajv/dist/standalone/index.js';
import { createAjv, pickSizeLimits, stripAnnotations } from './ajv.js';
import type { Contract } from './contract.js';
import type { SchemaObject } from './document.js';
import type { NamedSchema, ValidatorNames } from './validator-names.js';

/** Writes `validators.js`: a module of compiled ajv functions, which imports only ajv's runtime helpers. */
export function writeValidators({ schemas }: Contract, { schemas: named }: ValidatorNames): string {
  const ajv = createAjv({ code: { source: true, esm: true, lines: true }, useDefaults: true });
  const directions = {
    limits: pickSizeLimits,
    request: (schema: unknown) => stripAnnotations(liftDefaults(schema, schemas), { defaults: true }),
    response: (schema: unknown) => stripAnnotations(schema, { defaults: false }),
  } as const;
  for (const direction of ['limits', 'request', 'response'] as const) {
    ajv.addSchema({ $id: direction, components: { schemas: mapMembers(schemas, directions[direction]) } });
  }
  for (const { name, direction, schema } of named) {
    ajv.addSchema({ $id: `function-${name}`, allOf: [pointInto(direction, directions[direction](schema))] });
  }
  return toModule(standalone.default(ajv, Object.fromEntries(named.map(({ name }) => [name, `function-${name}`]))));
}

/** Writes `validators.d.ts`: the declarations of the exports of {@link writeValidators}. */
export function writeValidatorTypes({ schemas }: ValidatorNames): string {
  const lines = schemas.map(({ name }) => `export const ${name}: Validator;\n`);
  return `import type { Validator } from '../../server/rest/operation.js';\n\n${lines.join('')}`;
}

function mapMembers(members: object, map: (member: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, map(member)]));
}

/** Copies defaults from referenced schemas to the references, as ajv ignores defaults behind a `$ref`. */
function liftDefaults(schema: unknown, schemas: Contract['schemas']): unknown {
  if (Array.isArray(schema)) return schema.map((item) => liftDefaults(item, schemas));
  if (typeof schema !== 'object' || schema === null) return schema;
  const own = Object.entries(schema).map(([key, value]) => [key, liftDefaults(value, schemas)]);
  const known = findDefault(schema as SchemaObject, schemas);
  return { ...Object.fromEntries(own), ...(known === undefined ? {} : { default: known }) };
}

function findDefault(schema: SchemaObject | undefined, schemas: Contract['schemas']): unknown {
  if (typeof schema !== 'object') return undefined;
  const { $ref, default: own } = schema;
  return own ?? (typeof $ref === 'string' ? findDefault(schemas[$ref.split('/').at(-1) ?? ''], schemas) : undefined);
}

function pointInto(direction: NamedSchema['direction'], schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((item) => pointInto(direction, item));
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' ? `${direction}${value}` : pointInto(direction, value),
    ]),
  );
}

/** Converts the `require` calls for ajv's runtime helpers to imports, which ajv's ESM output lacks. */
function toModule(code: string): string {
  const modules = new Map<string, string>();
  const body = code.replace(/^"use strict";\n?/, '').replace(/require\("([^"]+)"\)/g, (_, path: string) => {
    const name = modules.get(path) ?? `runtime${modules.size}`;
    modules.set(path, name);
    return name;
  });
  const imports = [...modules].map(([path, name]) => `import ${name} from '${path}.js';\n`);
  return `${imports.join('')}\n${body.trimEnd()}\n`;
}
