import type { ForgeGuide } from './forge-guides.js';

interface ForgePermissionsProps {
  readonly guide: ForgeGuide;
  /** The URL as typed, which may be invalid. */
  readonly address: string;
}

/** The permissions that a token needs, their purposes, and a link to the page that creates tokens. */
export function ForgePermissions({ guide, address }: ForgePermissionsProps) {
  const { name, permissions, note, tokenPage, placeholder } = guide;
  return (
    <details class="guide">
      <summary>Permissions of a {name} token</summary>
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
          Create a token on {name}
        </a>
      </p>
    </details>
  );
}

/** Returns `undefined` for an invalid URL. */
function toTokenPage(address: string, page: string): string | undefined {
  return /^https?:\/\/./.test(address) && URL.canParse(address) ? address.replace(/\/+$/, '') + page : undefined;
}
