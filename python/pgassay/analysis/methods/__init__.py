"""What do the USE, RED and LTES methods show of each arm?

USE: utilisation, saturation and errors of each resource (Gregg, "Thinking Methodically about
Performance", Communications of the ACM 56, 2013). RED: rate, errors and duration of each scenario
(Wilkie). LTES: latency, traffic, errors and saturation of the service as a whole ("Site Reliability
Engineering", 2016, chapter 6). Which signal fills which cell is data, `cells.toml`. A cell is not
judged by a fixed threshold but against the baseline arm, over blocks.
"""
