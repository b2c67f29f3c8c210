/** What fits on a screen; more of the same would hide what else is said. */
const MAX_SHOWN = 20;

/** A line of a terminal; a warning may show a value of a file, which may hold anything. */
const MAX_LENGTH = 300;

/** What is to be mended in a site, a line each, ending with how many more there are. */
export function formatWarnings(messages: readonly string[], count = messages.length): string {
  const shown = messages.slice(0, MAX_SHOWN).map((message) => `Warning: ${toLine(message)}\n`);
  const left = count - shown.length;
  return shown.join('') + (left > 0 ? `Warning: and ${left.toLocaleString('en')} more.\n` : '');
}

/** Control characters could move the cursor or recolour the terminal. */
function toLine(message: string): string {
  const plain = message.replace(/\p{Cc}|\p{Bidi_Control}/gu, (character) => JSON.stringify(character).slice(1, -1));
  return plain.length > MAX_LENGTH ? `${plain.slice(0, MAX_LENGTH - 1)}…` : plain;
}
