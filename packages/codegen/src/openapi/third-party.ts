/**
 * Third-party code that the build includes. openapi-typescript alone would install a linter for OpenAPI and an older
 * compiler, and most of the other package is in two forms of modules.
 */
export { type Schema as InterpretedSchema, validate as interpret } from '@cfworker/json-schema';
export { astToString } from 'openapi-typescript/dist/lib/ts.mjs';
export { resolveRef, scanDiscriminators } from 'openapi-typescript/dist/lib/utils.mjs';
export { default as transformSchema } from 'openapi-typescript/dist/transform/index.mjs';
export { default as transformSchemaObject } from 'openapi-typescript/dist/transform/schema-object.mjs';
export { FAILSAFE_SCHEMA, load as loadYaml, Type as YamlType } from 'js-yaml';
export { default as typescript } from 'typescript';
