// What the page itself finds of the axes that were asked for, in their notation: `{ locale: "de-DE" }`.
async want => {
  const near = (got, wanted) => Math.abs(got - wanted) < 0.01 * wanted ? undefined : String(Math.round(got * 1000) / 1000);
  const media = query => matchMedia(query).matches;
  const frame = () => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  // A mobile browser lays out what says nothing of its width as on a desk.
  const meta = document.createElement('meta');
  Object.assign(meta, { name: 'viewport', content: 'width=device-width, initial-scale=1' });
  const probes = ['', '16px', '1em', '1rem'].map(size => {
    const probe = document.createElement('p');
    probe.style.fontSize = size;
    return probe;
  });
  document.head.append(meta);
  document.body.append(...probes);
  await frame();
  const canonical = {
    locale: tag => { try { return Intl.getCanonicalLocales(tag)[0]; } catch { return tag; } },
    timeZone: zone => { try { return Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone; } catch { return zone; } },
  };
  const read = {
    engine: () => CSS.supports('-moz-appearance', 'none') ? 'firefox' : CSS.supports('-webkit-app-region', 'none') ? 'chromium' : 'unknown',
    viewport: () => `${innerWidth}x${innerHeight}`,
    scale: wanted => near(devicePixelRatio, Number(wanted)),
    touch: () => String('ontouchstart' in window || navigator.maxTouchPoints > 0),
    locale: wanted => canonical.locale(wanted) === navigator.language ? undefined : navigator.language,
    timeZone: wanted => {
      const got = Intl.DateTimeFormat().resolvedOptions().timeZone;
      return canonical.timeZone(wanted) === got ? undefined : got;
    },
    colorScheme: () => media('(prefers-color-scheme: dark)') ? 'dark' : 'light',
    reducedMotion: () => media('(prefers-reduced-motion: reduce)') ? 'reduce' : 'no-preference',
    fontScale: wanted => {
      const sizes = probes.map(probe => parseFloat(getComputedStyle(probe).fontSize) / 16);
      const off = sizes.find(size => near(size, Number(wanted)) !== undefined);
      return off === undefined ? undefined : near(off, Number(wanted));
    },
    // Only Chromium tells.
    // Both are blurred by a tenth and rounded.
    network: () => navigator.connection && (navigator.connection.rtt >= 300 && navigator.connection.downlink <= 0.5 ? 'slow' : 'fast'),
    offline: () => String(!navigator.onLine),
  };
  const got = {};
  for (const [axis, wanted] of Object.entries(want)) {
    if (!(axis in read) || (axis === 'network' && !navigator.connection)) continue;
    // As wanted, in whatever notation.
    got[axis] = read[axis](wanted) ?? wanted;
  }
  probes.forEach(probe => probe.remove());
  meta.remove();
  await frame();
  return got;
}
