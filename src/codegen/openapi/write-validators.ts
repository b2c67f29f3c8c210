import standalone from 'ajv/dist/standalone/index.js';
import { createAjv, toRules } from './ajv.js';
import type { Contract } from './contract.js';
import type { NamedSchema, ValidatorNames } from './validator-names.js';

const DIRECTIONS = { request: { defaults: true }, response: { defaults: false } } as const;

/** One JavaScript module of ajv functions that needs nothing but ajv's own run-time parts. */
export function writeValidators({ schemas }: Contract, { schemas: named }: ValidatorNames): string {
  const ajv = createAjv({ code: { source: true, esm: true, lines: true }, useDefaults: true });
  for (const direction of ['request', 'response'] as const) {
    ajv.addSchema({ $id: direction, components: toRules({ schemas }, DIRECTIONS[direction]) as object });
  }
  for (const { name, direction, schema } of named) {
    ajv.addSchema({ $id: `function-${name}`, allOf: [pointInto(direction, toRules(schema, DIRECTIONS[direction]))] });
  }
  return toModule(standalone.default(ajv, Object.fromEntries(named.map(({ name }) => [name, `function-${name}`]))));
}

/** Declares what {@link writeValidators} exports. */
export function writeValidatorTypes({ schemas }: ValidatorNames): string {
  const lines = schemas.map(({ name }) => `export const ${name}: Validator;\n`);
  return `import type { Validator } from '../../server/operation.js';\n\n${lines.join('')}`;
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

/** ajv's ESM still calls `require` for its run-time parts: those become imports. */
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
