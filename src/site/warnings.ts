/** The number of warnings that fit on a screen with other output. */
const MAX_SHOWN = 20;

/** The maximum length of a line, as a warning may quote an arbitrarily long value of a file. */
const MAX_LENGTH = 300;

/** Formats the warnings of a site, one per line, and the number of those not shown. */
export function formatWarnings(messages: readonly string[], count = messages.length): string {
  const shown = messages.slice(0, MAX_SHOWN).map((message) => `Warning: ${toLine(message)}\n`);
  const rest = count - shown.length;
  return shown.join('') + (rest > 0 ? `Warning: and ${rest.toLocaleString('en')} more.\n` : '');
}

/** Escapes control characters, which could move the cursor or recolour the terminal. */
function toLine(message: string): string {
  const plain = message.replace(/\p{Cc}|\p{Bidi_Control}/gu, (character) => JSON.stringify(character).slice(1, -1));
  return plain.length > MAX_LENGTH ? `${plain.slice(0, MAX_LENGTH - 1)}…` : plain;
}
