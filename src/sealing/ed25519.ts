/** The curve of signatures, in a module of its own: most commands and pages read values without a signature. */
export { ed25519 } from '@noble/curves/ed25519.js';
