# The quick start, in a container: docker build -t cardan . && docker run --rm -v "$PWD:/home/user/out" -w /home/user/out cardan
FROM python:3.12-slim
WORKDIR /usr/src/cardan
COPY . .
RUN pip install --no-cache-dir ".[plot]"
RUN useradd --create-home user
USER user
WORKDIR /home/user
# Shows that it works, and fills the cache of compiled programs.
RUN cardan tour
CMD ["cardan", "tour"]
