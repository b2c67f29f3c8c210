/**
 * Converts the URL of GitHub's pages to the URL of its REST API; an empty URL stands for github.com. GitHub Enterprise
 * Server has its API below the pages. github.com and the enterprise cloud (ghe.com) have it on a separate host.
 */
export function toGithubApiUrl(url: string): string {
  if (url === '' || /^https?:\/\/(www\.)?github\.com$/.test(url)) return 'https://api.github.com';
  const [, cloud] = /^https:\/\/([a-z0-9-]+\.ghe\.com)$/.exec(url) ?? [];
  return cloud === undefined ? `${url}/api/v3` : `https://api.${cloud}`;
}

/** Converts the URL of the REST API to the URL of the pages. */
export function toGithubWebUrl(apiUrl: string): string {
  return apiUrl.replace(/\/api\/v3$/, '').replace(/^https:\/\/api\./, 'https://');
}
