/** The number of colours in the style sheet. */
const COLOURS = 8;

/** The initials of a user in a circle, in a colour that follows from the name. Decorative: the name is beside it. */
export const Avatar = ({ name }: { readonly name: string }) => (
  <span class="avatar" aria-hidden="true" data-initials={toInitials(name)} data-colour={toColour(name)} />
);

/** Returns the initials of the first two words of a name or login. */
const toInitials = (name: string): string =>
  name
    .split(/[\s._-]+/)
    .filter((word) => word !== '')
    .slice(0, 2)
    .map((word) => String.fromCodePoint(word.codePointAt(0) ?? 0))
    .join('')
    .toUpperCase();

function toColour(name: string): number {
  let sum = 0;
  for (const char of name.toLowerCase()) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 65_521;
  return sum % COLOURS;
}
