/**
 * Operations whose responses contain a secret or a sealed value, by service. They are never compressed: the length of a
 * compressed response reveals how much a secret has in common with other text in it, some of which a caller may choose
 * (BREACH, CVE-2013-3587). Secrets in bodies that are not JSON need no entry, as those are not compressed either.
 *
 * `tests/contract/uncompressed.test.ts` derives these operations from the contracts and compares.
 */
export const UNCOMPRESSED_OPERATIONS = {
  dashboard: [
    'beginRegistration',
    'beginLogin',
    'beginCredential',
    'createToken',
    'getSettings',
    'saveSettings',
    'rotateWebhook',
    'createFeed',
    'createInvite',
    'listForgeCredentials',
    'createForgeCredential',
    'saveForgeCredential',
  ],
  secrets: [
    'beginRegistration',
    'finishRegistration',
    'beginLogin',
    'getIdentity',
    'keepIdentity',
    'listCredentials',
    'renameCredential',
    'createToken',
    'rotateToken',
    'createConsumerToken',
    'rotateConsumerToken',
    // Tools return sealed values too.
    'callMcp',
  ],
} as const;
