/** The options of every project; they differ in the database engine. */
const project = (engine) => ({
  displayName: engine,
  globals: { ENGINE: engine },
  // Node's environment, in which browser tests run in order.
  testEnvironment: '<rootDir>/tests/e2e/in-order.js',
  roots: ['<rootDir>/tests'],
  extensionsToTreatAsEsm: ['.ts'],
  // Sources import each other with the extension of the built files.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } } }] },
  setupFilesAfterEnv: ['<rootDir>/tests/seed.ts'],
});

export default {
  projects: [
    {
      ...project('SQLite'),
      // Several servers on one database.
      testPathIgnorePatterns: ['/node_modules/', 'storage/postgres\\.test\\.ts$', 'contract/two-servers\\.test\\.ts$'],
    },
    {
      ...project('PostgreSQL'),
      // All tests that use the database, on the second engine.
      testMatch: ['accounts', 'commands', 'contract', 'dashboard', 'secrets', 'storage'].map(
        (room) => `<rootDir>/tests/${room}/**/*.test.ts`,
      ),
      // Tests of forges store nothing, and these tests of the contract do not depend on the engine.
      testPathIgnorePatterns: ['/node_modules/', '/tests/dashboard/forges/', '/tests/commands/(secrets/|completion)'],
      globalSetup: '<rootDir>/tests/storage/start-postgres.js',
      globalTeardown: '<rootDir>/tests/storage/stop-postgres.js',
    },
  ],
  // An option of the run; jest ignores it in a project. Only a busy machine makes a test slow.
  testTimeout: 180_000,
  maxWorkers: 2,
  coverageProvider: 'v8',
  collectCoverageFrom: ['src/**/*.ts', '!src/generated/**'],
};
