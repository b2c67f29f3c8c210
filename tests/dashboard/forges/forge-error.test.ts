import { FORGE_ERROR_MESSAGES, ForgeError, type ForgeErrorKind } from '../../../src/dashboard/forges/forge-error.js';

test.each(Object.entries(FORGE_ERROR_MESSAGES))(
  "ForgeError of kind %s: has a fixed message without the forge's own text",
  (kind, sentence) => {
    const error = new ForgeError(kind as ForgeErrorKind, { cause: new Error('account 4711 is limited') });
    expect([error.message, error.kind]).toEqual([sentence, kind]);
  },
);
