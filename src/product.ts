import { UNCOMPRESSED_OPERATIONS } from './handlers/uncompressed.js';
import { defineConfig, type ProjectConfig, type ServiceEntry, type SiteEntry } from './project/project.js';

/** Operations that every server has, whichever services it runs. */
const COMMON_OPERATIONS = ['getHealth', 'getReadiness', 'getVersion'];

/** The paths of operations that servers have for each kind of accounts, whichever services use the accounts. */
const OWN_ACCOUNT = ['/api/auth/', '/api/settings/theme', '/api/settings/timezone'];
const ACCOUNT_PATHS = {
  none: [],
  admin: OWN_ACCOUNT,
  users: [...OWN_ACCOUNT, '/api/tokens', '/api/admin/users', '/api/admin/invites'],
};

const COMMON_DOCUMENTS = ['openapi/common.yaml'];

const GENERATED = new URL('./generated/', import.meta.url);

/** The dashboard. Every server has some of its operations. */
export const dashboard: ServiceEntry = {
  documents: COMMON_DOCUMENTS,
  strict: true,
  generated: GENERATED,
  tokenVariable: 'TRELLIS_TOKEN',
  operations: () => import('./generated/dashboard/operations.js'),
  handlers: async (context) => (await import('./handlers/dashboard/handlers.js')).dashboardHandlers(context),
  uncompressedOperations: UNCOMPRESSED_OPERATIONS.dashboard,
  ownedPrefixes: ['/api'],
  documentPath: '/api/openapi.json',
  isAlwaysServed: ({ id, path }, { accounts }) =>
    COMMON_OPERATIONS.includes(id) || ACCOUNT_PATHS[accounts].some((prefix) => path.startsWith(prefix)),
};

/** The secrets service. */
export const secrets: ServiceEntry = {
  documents: COMMON_DOCUMENTS,
  strict: true,
  generated: GENERATED,
  tokenVariable: 'TRELLIS_SECRETS_TOKEN',
  operations: () => import('./generated/secrets/operations.js'),
  handlers: async (context) => (await import('./startup/secrets-handlers.js')).createSecretsHandlers(context),
  tokens: ['write', 'consumer'],
  fixedMessages: { unauthenticated: 'missing or invalid session', malformed_body: 'malformed request body' },
  uncompressedOperations: UNCOMPRESSED_OPERATIONS.secrets,
  onRejected: async ({ denials }) => (await import('./handlers/secrets/denied-requests.js')).toDeniedRequest(denials),
};

/** The documents and the code of this product with queries. */
const QUERIES = ['queries/**/*.graphql', 'scripts/**/*.ts', 'src/web/app/**/*.ts', 'src/web/app/**/*.tsx'];

/** The data of a site, with the example kind of `schema/recipe.graphql`. */
const site: SiteEntry = {
  queries: QUERIES,
  records: () => import('./generated/site/records.js'),
  resolvers: () => import('./resolvers/schema.js'),
};

/** The services of this product, which `trellis.config.ts` exports. */
export const product: ProjectConfig = {
  ...defineConfig({ site, services: { dashboard, secrets } }),
  generated: GENERATED,
};
