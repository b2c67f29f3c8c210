import { useLocation } from 'preact-iso';

interface PartsProps {
  /** What a screen reader calls them together. */
  readonly name: string;
  /** The address and the name of each; pages that are none of them belong to the first. */
  readonly parts: readonly (readonly [string, string])[];
}

/** Pages that belong together, as links above each of them. */
export function Parts({ name, parts }: PartsProps) {
  const { path } = useLocation();
  const isOther = !parts.some(([address]) => address === path);
  const currentOf = (address: string, index: number) => {
    if (address === path) return 'page';
    return isOther && index === 0 ? 'true' : undefined;
  };
  return (
    <nav aria-label={name}>
      <ul class="parts">
        {parts.map(([address, part], index) => (
          <li key={address}>
            <a href={address} aria-current={currentOf(address, index)}>
              {part}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
