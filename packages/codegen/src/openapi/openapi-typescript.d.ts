/** The types of modules that `openapi-typescript` exports without declarations. Its main module loads a linter too. */
declare module 'openapi-typescript/dist/lib/ts.mjs' {
  export { astToString } from 'openapi-typescript';
}
declare module 'openapi-typescript/dist/lib/utils.mjs' {
  export { resolveRef, scanDiscriminators } from 'openapi-typescript';
}
declare module 'openapi-typescript/dist/transform/index.mjs' {
  export { transformSchema as default } from 'openapi-typescript';
}
declare module 'openapi-typescript/dist/transform/schema-object.mjs' {
  export { transformSchemaObject as default } from 'openapi-typescript';
}
