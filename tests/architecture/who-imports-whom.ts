/** What a room may import in values; `import type` is free, and so is a room's own folder. */
export interface Rule {
  /** Rooms, or single files of rooms. */
  rooms: readonly string[];
  /** `all` by default; or those listed. `browser`: npm, but nothing of Node's. `no transport`: all but express and graphql. */
  packages?: 'all' | 'browser' | 'no transport' | readonly string[];
}

/** A domain decides and stores; it doesn't know who asks, nor other domains. */
const domain: Rule = {
  rooms: ['storage', 'errors', 'in-turn', 'together', 'accounts/callers', 'accounts/scopes'],
  packages: 'no transport',
};

/** Who imports whom. A room is a folder of `src` or a file beside them. */
export const whoImportsWhom: Readonly<Record<string, Rule>> = {
  cli: { rooms: ['main', 'commands', 'config', 'settings', 'start-error'] },
  // Each is a program of its own: it opens what it needs of the house, and asks it.
  commands: {
    rooms: [
      ...['config', 'settings', 'start-error', 'site-data', 'resolvers', 'site', 'accounts', 'secrets', 'storage'],
      ...['client', 'sealing', 'generated/secrets/client', 'secrets'],
    ],
  },
  main: { rooms: ['app', 'services', 'config', 'listen', 'settings', 'start-error'] },
  app: { rooms: ['server', 'handlers', 'resolvers', 'generated'] },
  services: { rooms: ['accounts', 'site', 'dashboard', 'secrets', 'storage', 'site-service'] },
  'site-service': { rooms: ['errors', 'site', 'site-data'] },
  'site-data': { rooms: ['site', 'images', 'generated'] },
  listen: { rooms: ['start-error'] },
  config: { rooms: ['config-file', 'settings', 'site-access', 'start-error'] },
  'site-access': { rooms: ['settings', 'start-error'] },
  'config-file': { rooms: ['settings', 'start-error'] },
  settings: { rooms: ['start-error'] },
  'start-error': { rooms: [], packages: [] },
  errors: { rooms: [], packages: [] },
  'in-turn': { rooms: [], packages: [] },
  together: { rooms: [], packages: [] },

  handlers: { rooms: [], packages: [] },
  // Resolvers are given their services too; they bind them to the generated schema.
  resolvers: { rooms: ['generated', 'errors'], packages: ['graphql', '@graphql-tools/schema'] },
  server: { rooms: ['errors', 'accounts/callers', 'accounts/scopes'] },

  accounts: domain,
  site: domain,
  images: domain,
  dashboard: domain,
  secrets: domain,
  storage: { rooms: ['errors', 'in-turn'], packages: 'no transport' },

  generated: { rooms: ['client'] },
  client: { rooms: [], packages: 'browser' },
  // What is done to values before they are sent and after they came, wherever the client runs.
  sealing: { rooms: ['client', 'generated/secrets/client'], packages: 'browser' },
  // The pages ask the server by its generated clients, as anybody does.
  web: { rooms: ['client', 'sealing', 'generated', 'in-turn'], packages: 'browser' },
  codegen: { rooms: [] },

  // Beside src: thin commands, and the table of what is generated from what.
  // Pictures of the pages are taken of servers and forges that tests start.
  scripts: { rooms: ['codegen', 'generated', 'client', 'images', 'tests'] },
  'codegen.ts': { rooms: ['codegen'] },
};
