import type { ForgeGuide } from './forge-guides.js';

interface ForgePermissionsProps {
  readonly guide: ForgeGuide;
  /** As it is typed. */
  readonly address: string;
}

/** What a token must be allowed and why, and where one is made. */
export function ForgePermissions({ guide, address }: ForgePermissionsProps) {
  const { name, permissions, note, tokenPage, placeholder } = guide;
  return (
    <details class="guide">
      <summary>What a token of {name} needs</summary>
      <ul>
        {permissions.map(({ permission, purpose }) => (
          <li key={permission}>
            <strong>{permission}</strong>, {purpose}
          </li>
        ))}
      </ul>
      {note !== undefined && <p>{note}</p>}
      <p>
        <a href={toTokenPage(address === '' ? placeholder : address, tokenPage)} target="_blank" rel="noreferrer">
          Make a token at {name}
        </a>
      </p>
    </details>
  );
}

/** Of what is no address yet, the page is nowhere. */
function toTokenPage(address: string, page: string): string | undefined {
  return /^https?:\/\/./.test(address) && URL.canParse(address) ? address.replace(/\/+$/, '') + page : undefined;
}
