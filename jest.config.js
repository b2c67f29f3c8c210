/** What every run has; the engine is what they differ in. */
const project = (engine) => ({
  displayName: engine,
  globals: { ENGINE: engine },
  // Node's own, with a rule for tests in a browser.
  testEnvironment: '<rootDir>/tests/e2e/in-order.js',
  roots: ['<rootDir>/tests'],
  extensionsToTreatAsEsm: ['.ts'],
  // Sources import each other with the extension that they have when built.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } } }] },
  setupFilesAfterEnv: ['<rootDir>/tests/seed.ts'],
});

export default {
  projects: [
    {
      ...project('SQLite'),
      // What several servers on one database do.
      testPathIgnorePatterns: ['/node_modules/', 'storage/postgres\\.test\\.ts$', 'contract/two-servers\\.test\\.ts$'],
    },
    {
      ...project('PostgreSQL'),
      // Everything that stands on the database, a second time.
      testMatch: ['accounts', 'commands', 'contract', 'dashboard', 'secrets', 'storage'].map(
        (room) => `<rootDir>/tests/${room}/**/*.test.ts`,
      ),
      // What asks forges stores nothing, and what asks the service by its contract is told of no engine.
      testPathIgnorePatterns: ['/node_modules/', '/tests/dashboard/forges/', '/tests/commands/(secrets/|completion)'],
      globalSetup: '<rootDir>/tests/storage/start-postgres.js',
      globalTeardown: '<rootDir>/tests/storage/stop-postgres.js',
    },
  ],
  // Of the run: what a project says of it is not read. No test is slow by right; a busy machine is.
  testTimeout: 180_000,
  maxWorkers: 2,
  coverageProvider: 'v8',
  collectCoverageFrom: ['src/**/*.ts', '!src/generated/**'],
};
