/** Third-party code that the build includes: alone, it would install a linter for OpenAPI and an older compiler. */
export { astToString } from 'openapi-typescript/dist/lib/ts.mjs';
export { resolveRef, scanDiscriminators } from 'openapi-typescript/dist/lib/utils.mjs';
export { default as transformSchema } from 'openapi-typescript/dist/transform/index.mjs';
