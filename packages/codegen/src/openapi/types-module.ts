/** Third-party code that the build includes: alone, it would install a linter for OpenAPI and an older compiler. */
export { astToString, default as openapiTS, type OpenAPI3 } from 'openapi-typescript';
